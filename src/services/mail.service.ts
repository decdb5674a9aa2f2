import type { UnitOfWork } from '../events/unit-of-work.ts';
import { newId } from '../id.ts';
import type { Mail, Mailer } from '../integrations/mail/mailer.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Queue } from '../jobs/queue.ts';
import type { Keyring } from '../security/keyring.ts';
import { Secret } from '../security/secret.ts';

/** Mails leave by the job queue: they exist if the change they speak of does, and wait for a mail server that is away. */
export class MailService {
  constructor(
    private readonly queue: Queue,
    private readonly mailer: Mailer,
    private readonly keyring: Keyring,
  ) {}

  /** Codes and links are secrets, so the mail lies sealed in the queue. */
  async post(unit: UnitOfWork, mail: Mail): Promise<void> {
    const id = newId();
    const { sealed } = this.keyring.seal(JSON.stringify(mail), mailPlace(id));
    await this.queue.enqueue(unit, 'mail.send', { id, sealed });
  }

  async deliver({ id, sealed }: Jobs['mail.send']): Promise<void> {
    const mail: Mail = JSON.parse(this.keyring.open(new Secret(sealed), mailPlace(id)));
    await this.mailer.send(mail);
  }
}

/** A mail lies in the queue alone: this is the place it is sealed to. */
export const mailPlace = (id: string) => ({ table: 'mail', row: id, column: 'body' });
