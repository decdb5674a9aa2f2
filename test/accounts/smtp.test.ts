import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Log } from '../../src/http/log.ts';
import { SmtpMailer } from '../../src/integrations/mail/smtp-mailer.ts';
import { CapturedLog } from '../support/captured-log.ts';
import { PASSWORD, TestApp } from '../support/create-app.ts';

interface Received {
  from: string;
  to: string[];
  text: string;
}

/** A real mail server that keeps what it gets. */
class MailServer {
  readonly received: Received[] = [];
  readonly #waiting = new Set<() => void>();
  readonly server: SMTPServer;

  constructor(options: SMTPServerOptions = {}) {
    this.server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData: (stream, { envelope }, done) => {
        let text = '';
        stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        stream.on('end', () => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          this.received.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
          for (const look of this.#waiting) look();
          done();
        });
      },
      ...options,
    });
  }

  async listen(port = 0): Promise<number> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server.server, 'listening');
    return (this.server.server.address() as AddressInfo).port;
  }

  async mailTo(address: string): Promise<Received> {
    for (;;) {
      const mail = this.received.find(({ to }) => to.includes(address));
      if (mail) return mail;
      await new Promise<void>(resolve => this.#waiting.add(resolve));
    }
  }

  async close(): Promise<void> {
    if (!this.server.server.listening) return;
    await new Promise<void>(resolve => this.server.close(() => resolve()));
  }
}

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop();
});

async function mailServer(options?: SMTPServerOptions, port?: number): Promise<MailServer & { port: number }> {
  const server = new MailServer(options);
  const at = await server.listen(port);
  open.push({ stop: () => server.close() });
  return Object.assign(server, { port: at });
}

async function start(settings: Record<string, string>, log?: Log): Promise<TestApp> {
  const app = await TestApp.start(settings, log);
  open.push(app);
  return app;
}

const register = (app: TestApp, email: string) =>
  app.rest<{ challenge: string }>('POST', '/auth/register', { body: { email, password: PASSWORD } });

test('codes go out by SMTP, from the configured sender, and sign in', async () => {
  const server = await mailServer();
  const app = await start({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, MAIL_FROM: 'Slipway <noreply@slipway.test>' });
  const email = 'ann@example.org';
  const { challenge } = (await register(app, email)).body;
  const mail = await server.mailTo(email);
  expect(mail).toMatchObject({ from: 'noreply@slipway.test', to: [email] });
  expect(mail.text).toMatch(/^From: Slipway <noreply@slipway\.test>$/m);
  const code = /Your code is (\d{6})/.exec(mail.text)?.[1];
  const answer = await app.rest('POST', '/auth/verify-otp', { body: { email, code, challenge } });
  expect(answer.status).toBe(200);
  expect(app.mailbox.printed).toEqual([]);
});

test('user and password of SMTP_URL are shown to the mail server', async () => {
  const seen: unknown[] = [];
  const server = await mailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) => {
      seen.push([username, password]);
      done(null, { user: username });
    },
  });
  const app = await start({ SMTP_URL: `smtp://slipway:s%40cret@127.0.0.1:${server.port}` });
  await register(app, 'ann@example.org');
  await server.mailTo('ann@example.org');
  expect(seen).toContainEqual(['slipway', 's@cret']);
});

test('a mail server that is away holds nobody up, and gets the mail when it is back', async () => {
  const absent = await mailServer();
  await absent.close();
  const captured = new CapturedLog();
  const app = await start({ SMTP_URL: `smtp://127.0.0.1:${absent.port}` }, captured.log);
  const email = 'ann@example.org';
  expect(await register(app, email)).toMatchObject({ status: 201 });
  await captured.line(/"job":"mail\.send".*"A job failed"/);
  const back = await mailServer({}, absent.port);
  expect((await back.mailTo(email)).text).toMatch(/Your code is \d{6}/);
  expect(back.received).toHaveLength(1);
}, 60_000);

test('a mail server that takes the call and says nothing is given up after its time', async () => {
  const { createServer } = await import('node:net');
  const mute = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  const mailer = new SmtpMailer(`smtp://127.0.0.1:${port}`, 'a@example.org', 200);
  const mail = { to: 'b@example.org', subject: 'x', text: 'x' };
  await expect(mailer.send(mail)).rejects.toThrow(/Greeting never received|Timeout/);
  mute.close();
});

test('nothing a guest or inviter may choose becomes a header of a mail', async () => {
  const server = await mailServer();
  const app = await start({ SMTP_URL: `smtp://127.0.0.1:${server.port}` });
  const name = 'Ann\r\nBcc: everybody@example.org\r\nX-Evil: yes';
  const body = { email: 'ann@example.org', password: PASSWORD, name };
  const { challenge } = (await app.rest<{ challenge: string }>('POST', '/auth/register', { body })).body;
  const code = /Your code is (\d{6})/.exec((await server.mailTo('ann@example.org')).text)?.[1];
  const signedIn = await app.rest<{ accessToken: string }>('POST', '/auth/verify-otp', {
    body: { email: 'ann@example.org', code, challenge },
  });
  const invitation = { email: 'bob@example.org', role: 'VIEWER' };
  await app.rest('POST', '/members/invitations', { token: signedIn.body.accessToken, body: invitation });
  const mail = await server.mailTo('bob@example.org');
  const [head = ''] = mail.text.split('\r\n\r\n');
  expect(head).not.toMatch(/everybody|X-Evil/);
  expect(mail.to).toEqual(['bob@example.org']);
});
