import type { Mail, Mailer } from './mailer.ts';

/** Where no SMTP server is configured, mails appear on the console, so that the first five minutes need none. */
export class ConsoleMailer implements Mailer {
  constructor(private readonly print: (text: string) => void) {}

  send({ to, subject, text }: Mail): Promise<void> {
    const body = text.replace(/^/gm, '  │ ');
    this.print(`\n  ┌ Mail to ${to} (no SMTP_URL is set, so it is shown here)\n  │ ${subject}\n  │\n${body}\n  └\n`);
    return Promise.resolve();
  }
}
