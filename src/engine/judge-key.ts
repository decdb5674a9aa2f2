import type { HostKey } from '../remote/host-key.ts';
import { ConnectionStepStatus, StepFailed, type TestTarget, type Verdict } from './connection-message.ts';

/** Whether what comes next, the credential, may be sent to whoever shows this key. */
export function judgeKey({ type, fingerprint }: HostKey, { known, password, isStopped }: TestTarget): Verdict {
  const shown = `${type} ${fingerprint}`;
  if (known.length > 0 && !known.includes(fingerprint))
    throw new StepFailed(
      `It shows ${shown}, which is not the known key`,
      'If the machine was set up anew, trust the new key; if not, somebody may be in between.',
    );
  if (isStopped)
    throw new StepFailed(`It shows ${shown}, the known key, again`, 'Trust it to let work on the server go on.');
  if (known.length > 0) return { status: ConnectionStepStatus.OK, message: shown };
  if (password !== undefined)
    throw new StepFailed(
      `Its key is ${shown}`,
      'Compare it with the machine and give it as hostKeyFingerprint: a password is sent to no stranger.',
    );
  const hint = 'Seen for the first time: compare it with the machine.';
  return { status: ConnectionStepStatus.WARN, message: shown, hint };
}
