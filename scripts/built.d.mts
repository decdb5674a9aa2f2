export const BUILD_STAMP: string;
export function isBuilt(): boolean;
export function hashSources(): string;
export function hash(parts: readonly (string | Uint8Array)[]): string;
