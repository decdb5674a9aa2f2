import { writeFileSync } from 'node:fs';

/** One line of the table. */
export interface Figure {
  part: string;
  name: string;
  /** What was measured, spelled out. */
  value: string;
  /** What the target is compared with: a ratio where there is a yardstick, the figure itself elsewhere. */
  score?: number;
  unit?: string;
  target?: Target;
  /** Numbers behind the line, for the JSON file. */
  details: Record<string, number>;
}

export type Target = { atLeast: number } | { atMost: number };

const hasPassed = (score: number, target: Target): boolean =>
  'atLeast' in target ? score >= target.atLeast : score <= target.atMost;

export function printReport(figures: readonly Figure[], notes: readonly string[]): void {
  const rows = figures.map(({ name, value, score, unit, target }) => [
    name,
    value,
    score === undefined ? '' : `${spell(score)}${unit ?? ''}`,
    target === undefined ? '' : 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`,
    verdictOf(score, target),
  ]);
  const head = ['what', 'measured', 'score', 'target', ''];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  console.log(['', line(head), widths.map(width => '─'.repeat(width)).join('  ')].join('\n'));
  for (const [index, row] of rows.entries()) {
    if (index > 0 && figures[index]?.part !== figures[index - 1]?.part) console.log('');
    console.log(line(row));
  }
  console.log(['', ...notes].join('\n'));
}

export function writeReport(file: string, figures: readonly Figure[], notes: readonly string[]): void {
  const spelled = figures.map(figure => ({ ...figure, verdict: verdictOf(figure.score, figure.target) || undefined }));
  writeFileSync(
    file,
    `${JSON.stringify({ at: new Date().toISOString(), node: process.version, figures: spelled, notes }, null, 2)}\n`,
  );
}

const verdictOf = (score: number | undefined, target: Target | undefined): string =>
  score === undefined || target === undefined ? '' : hasPassed(score, target) ? 'pass' : 'NOT REACHED';

export const spell = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
