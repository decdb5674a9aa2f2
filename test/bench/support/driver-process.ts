import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A load driver in a process of its own: one question, one answer. */
export class DriverProcess<Question extends object> {
  readonly #child: ChildProcess;

  constructor(program: string) {
    this.#child = fork(new URL(program, import.meta.url), { execArgv: ['--no-warnings'] });
  }

  async ask<Answer>(question: Question): Promise<Answer> {
    this.#child.send(question);
    const [answer] = (await once(this.#child, 'message')) as [Answer | { fault: string }];
    if (typeof answer === 'object' && answer !== null && 'fault' in answer) throw new Error(answer.fault);
    return answer as Answer;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}

/** The other end, inside the driver. */
export function answerQuestions<Question extends object>(answer: (question: Question) => Promise<object>): void {
  process.on('message', (question: Question) => {
    answer(question).then(
      result => process.send?.(result),
      (error: unknown) => process.send?.({ fault: error instanceof Error ? error.message : String(error) }),
    );
  });
}
