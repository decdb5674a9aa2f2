/** What Caddy answered instead of doing what it was asked for. Its settings are then as they were. */
export class CaddyFault extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}
