/** One place of a compose file that cannot be had, and why. Never says a value: it may come from a secret variable. */
export class ComposeRefusal extends Error {
  constructor(
    readonly place: string,
    readonly why: string,
    readonly hint: string | null = null,
  ) {
    super(`${place} ${why}`);
  }
}
