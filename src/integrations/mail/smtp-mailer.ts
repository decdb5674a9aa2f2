import type { Transporter } from 'nodemailer';
import type { Mail, Mailer } from './mailer.ts';

const PATIENCE_MS = 15_000;

export class SmtpMailer implements Mailer {
  #transport: Promise<Transporter> | undefined;

  constructor(
    private readonly url: string,
    private readonly from: string,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  async send(mail: Mail): Promise<void> {
    this.#transport ??= this.#open();
    await (await this.#transport).sendMail({ from: this.from, ...mail });
  }

  /** Loaded with the first mail. */
  async #open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    const { url, patienceMs, from } = this;
    const patience = { connectionTimeout: patienceMs, greetingTimeout: patienceMs, socketTimeout: patienceMs };
    return createTransport({ url, ...patience }, { from });
  }
}
