import { Outbound, OutboundRefused } from '../security/outbound.ts';
import { SshFailure } from './ssh-failure.ts';

/** People's servers stand in private networks, too; where clouds keep credentials nobody's does. */
const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** What a host's name stands for, checked: whoever connects uses these and asks no second time. */
export function hostAddresses(): (host: string) => Promise<string[]> {
  const outbound = new Outbound({ allow: EVERYWHERE, authorities: undefined });
  return async host => {
    try {
      return (await outbound.resolve(host)).map(({ address }) => address);
    } catch (error) {
      if (error instanceof OutboundRefused) throw new SshFailure('FORBIDDEN_ADDRESS', 'The address is never a target');
      throw new SshFailure('NO_ADDRESS', 'The name has no address');
    }
  };
}
