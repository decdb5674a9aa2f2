import type { HostKey } from './host-key.ts';
import { SshFailure } from './ssh-failure.ts';
import { HOST_KEY_TYPES, SshHost } from './ssh-host.ts';

interface Place {
  address: string;
  port: number;
}

/**
 * The key a machine shows, without saying who we are. A machine has a key of each type and shows one: where another one is
 * wanted, it is asked for the others too. Answers the wanted one if it has it, else the one it shows by itself.
 */
export async function findHostKey(
  place: Place,
  isWanted: (key: HostKey) => boolean,
  signal?: AbortSignal,
): Promise<HostKey> {
  const first = await seeKey(place, [], signal);
  if (isWanted(first)) return first;
  for (const type of HOST_KEY_TYPES.filter(each => each !== first.type)) {
    const other = await seeKey(place, [type], signal);
    if (isWanted(other)) return other;
  }
  return first;
}

/** A connection that trusts nobody ends before anything is said. */
async function seeKey(place: Place, hostKeyTypes: readonly string[], signal?: AbortSignal): Promise<HostKey> {
  const nobody = { ...place, username: 'nobody', hostKeyTypes, trusts: () => false };
  try {
    (await SshHost.connect(nobody, signal)).close();
  } catch (error) {
    if (error instanceof SshFailure && error.shown !== undefined) return error.shown;
    throw error;
  }
  throw new SshFailure('UNREACHABLE', 'The machine let us in without showing a key');
}
