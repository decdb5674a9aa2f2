import { cmd, expose, type Instruction, user } from './dockerfile.ts';
import { startWords } from './start-words.ts';

/** The end of every image that runs a program: as somebody who owns nothing else, on a port that is told, by words. */
export const serve = (as: string, plan: { readonly port: number; readonly startCommand: string }): Instruction[] => [
  user(as),
  expose(plan.port),
  cmd(startWords(plan.startCommand)),
];
