import type { Connection, Door } from '../engine/security/security-reader.ts';
import type { Server } from '../entities/server.ts';
import type { ServerAccessService } from './server-access.service.ts';

/** The way to a server as hardening needs it: each connection is a new one, and stays until it is closed. */
export const doorOf = (access: ServerAccessService, { id, username, privateKey }: Server): Door => ({
  username,
  usesKey: privateKey !== null,
  connect: () =>
    new Promise<Connection>((resolve, reject) => {
      const opened = access.useAnew(
        id,
        host =>
          new Promise<void>(close =>
            resolve({
              hostKey: host.hostKey,
              run: (command, options) => host.run(command, options),
              stream: (command, options) => host.stream(command, options),
              dial: port => host.dial(port),
              converse: command => host.converse(command),
              close,
            }),
          ),
      );
      opened.catch(reject);
    }),
});
