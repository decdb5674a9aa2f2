import { createTransport, type Transporter } from 'nodemailer';
import type { Mail, Mailer } from './mailer.ts';

const PATIENCE_MS = 15_000;

export class SmtpMailer implements Mailer {
  readonly #transport: Transporter;

  constructor(
    url: string,
    private readonly from: string,
    patienceMs = PATIENCE_MS,
  ) {
    const patience = { connectionTimeout: patienceMs, greetingTimeout: patienceMs, socketTimeout: patienceMs };
    this.#transport = createTransport({ url, ...patience }, { from });
  }

  async send(mail: Mail): Promise<void> {
    await this.#transport.sendMail({ from: this.from, ...mail });
  }
}
