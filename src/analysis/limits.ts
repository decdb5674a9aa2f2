/** What one analysis may cost. A repository is written by a stranger: every one of these is reached on purpose some day. */
export interface AnalysisLimits {
  /** Files and folders listed, without those in folders that are never entered. */
  readonly entries: number;
  readonly depth: number;
  readonly nameBytes: number;
  readonly pathBytes: number;
  /** Files read. A snapshot that pays a request for each read is given fewer. */
  readonly reads: number;
  /** A manifest larger than this was not written by hand and is refused. */
  readonly manifestBytes: number;
  /** Program text and lock files are read up to here; the rest is not needed. */
  readonly headBytes: number;
  readonly totalBytes: number;
  /** Brackets inside brackets in JSON, TOML and YAML. */
  readonly nesting: number;
  readonly milliseconds: number;
}

export const defaultLimits: AnalysisLimits = {
  entries: 50_000,
  depth: 40,
  nameBytes: 255,
  pathBytes: 4_096,
  reads: 400,
  manifestBytes: 512 * 1024,
  headBytes: 64 * 1024,
  totalBytes: 24 * 1024 * 1024,
  nesting: 64,
  milliseconds: 10_000,
};
