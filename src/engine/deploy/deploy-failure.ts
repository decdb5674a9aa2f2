/** Why a deployment failed, as its users read it and look it up in docs/guide/troubleshooting.md. */
export type ReasonCode =
  | 'CLONE_AUTH'
  | 'CLONE_FAILED'
  | 'COMMIT_NOT_FOUND'
  | 'BRANCH_NOT_FOUND'
  | 'ANALYSIS_FAILED'
  | 'COMPOSE_REFUSED'
  | 'BUILD_FAILED'
  | 'OUT_OF_DISK'
  | 'OUT_OF_MEMORY'
  | 'IMAGE_GONE'
  | 'PRE_DEPLOY_FAILED'
  | 'START_FAILED'
  | 'HEALTH_TIMEOUT'
  | 'PROXY_FAILED'
  | 'DOCKER_MISSING'
  | 'SERVER_LOST'
  | 'SERVER_UNTRUSTED'
  | 'TIMED_OUT'
  | 'INTERNAL';

/** A failure we foresaw: the deployment ends with it, and says what to do. */
export class DeployFailure extends Error {
  constructor(
    readonly code: ReasonCode,
    message: string,
    readonly hint: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
