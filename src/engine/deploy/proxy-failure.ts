import { DeployFailure } from './deploy-failure.ts';

/** The proxy would not do it. What it did before it does still. */
export class ProxyFailure extends DeployFailure {
  constructor(
    message: string,
    hint: string | null = null,
    /** Somebody else listens on the port: another one may be tried. */
    readonly isPortTaken = false,
    options?: ErrorOptions,
  ) {
    super('PROXY_FAILED', message, hint, options);
  }
}
