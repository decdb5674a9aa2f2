import type { ServerFacts } from '../entities/server.ts';
import type { SshTarget } from '../remote/ssh-host.ts';

export enum ConnectionStep {
  RESOLVE = 'RESOLVE',
  TCP = 'TCP',
  HOST_KEY = 'HOST_KEY',
  AUTH = 'AUTH',
  SHELL = 'SHELL',
  SUDO = 'SUDO',
  DOCKER = 'DOCKER',
  DISK = 'DISK',
  DONE = 'DONE',
}

export enum ConnectionStepStatus {
  RUNNING = 'RUNNING',
  OK = 'OK',
  WARN = 'WARN',
  FAILED = 'FAILED',
}

export interface ConnectionMessage {
  seq: number;
  step: ConnectionStep;
  status: ConnectionStepStatus;
  message: string;
  hint: string | null;
  durationMs: number;
  facts: ServerFacts | null;
}

/** How a step went. */
export interface Verdict {
  status: ConnectionStepStatus;
  message: string;
  hint?: string | null;
  facts?: ServerFacts | null;
}

/** A machine to try. */
export interface TestTarget extends Omit<SshTarget, 'address' | 'trusts' | 'hostKeyTypes'> {
  host: string;
  /** Fingerprints that are known; with none and no password, the first that is seen is good. */
  known: readonly string[];
  /** Nothing may be done on it until a key is trusted, be it the one that is known. */
  isStopped: boolean;
}

/** A step that ends the test, with what to do about it. */
export class StepFailed extends Error {
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}
