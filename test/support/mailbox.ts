/** Reads the mails that the service prints where no SMTP server is set. */
export class Mailbox {
  readonly printed: string[] = [];
  readonly #waiting = new Set<() => void>();

  print(text: string): void {
    this.printed.push(text);
    for (const look of this.#waiting) look();
  }

  async codeFor(email: string): Promise<string> {
    return this.#find(email, /code is (\d{6})/);
  }

  async invitationFor(email: string): Promise<string> {
    return this.#find(email, /invitation: ([\w-]+)/);
  }

  async resetTokenFor(email: string): Promise<string> {
    return this.#find(email, /#token=([\w-]+)/);
  }

  /** The mails to that address, once one of them matches. None is taken. */
  async waitFor(email: string, pattern: RegExp): Promise<string[]> {
    for (;;) {
      const mails = this.mailsTo(email).filter(text => pattern.test(text));
      if (mails.length > 0) return mails;
      await this.#news();
    }
  }

  mailsTo(email: string): string[] {
    return this.printed.filter(text => text.includes(`Mail to ${email} `));
  }

  /** Takes the mail it found, so that the next of its kind is waited for. */
  async #find(email: string, pattern: RegExp): Promise<string> {
    for (;;) {
      const index = this.printed.findLastIndex(text => text.includes(`Mail to ${email} `) && pattern.test(text));
      if (index >= 0) return pattern.exec(this.printed.splice(index, 1)[0] as string)?.[1] as string;
      await this.#news();
    }
  }

  #news(): Promise<void> {
    return new Promise(resolve => {
      const look = () => {
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }
}
