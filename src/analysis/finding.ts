/** Something seen in a repository: what, in which file, why it means that, and how sure we are (0 to 1). */
export interface Found<T> {
  readonly value: T;
  /** From the root of the repository. Null for what follows from no file, such as a framework's default port. */
  readonly file: string | null;
  readonly reason: string;
  readonly confidence: number;
}

export const found = <T>(value: T, file: string | null, reason: string, confidence = 0.9): Found<T> => ({
  value,
  file,
  reason,
  confidence,
});

/** Candidates stand in order of preference: the first is the answer, the others are what else it could be. */
export type Candidates<T> = readonly Found<T>[];

export const bestOf = <T>(candidates: Candidates<T>): T | null => candidates[0]?.value ?? null;

/** Leaves out the rules that saw nothing, and what an earlier rule said already. */
export function candidates<T>(...rules: readonly (Found<T> | null | undefined | false)[]): Candidates<T> {
  const kept: Found<T>[] = [];
  for (const rule of rules) {
    if (rule && !kept.some(({ value }) => value === rule.value)) kept.push(rule);
  }
  return kept;
}
