/** What the engine answered instead of doing what it was asked for. */
export class DockerFault extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}
