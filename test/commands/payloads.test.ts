import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildCommand } from '../../src/commands/build.commands.ts';
import { boundedCall, endCalls } from '../../src/commands/call.commands.ts';
import { Command } from '../../src/commands/command.ts';
import { cloneOne, forgetRemote, listRemote, sshCommand } from '../../src/commands/git.commands.ts';
import { startWork } from '../../src/commands/work.commands.ts';
import { payloads } from '../support/payloads.ts';
import { RecordingHost } from '../support/recording-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-payloads-'));
const sentinel = join(folder, 'was-here');
afterAll(() => rmSync(folder, { recursive: true }));

const PAYLOADS = payloads(sentinel);
const remote = (text: string) => ({ url: text, pin: text, caFile: text });

/** Each way a text of somebody's becomes part of a command. */
const builders: Record<string, (text: string) => Command> = {
  'a word': text => Command.of('printf', '%s', text),
  'words on both sides of an operator': text => Command.of('printf', '%s', text).and(Command.of('true', text)),
  listRemote: text => listRemote(remote(text)),
  cloneOne: text => cloneOne(remote(text), text, text),
  forgetRemote: text => forgetRemote(text),
  sshCommand: text => sshCommand({ keyFile: text, knownHostsFile: text, address: text, alias: text, user: text }),
  boundedCall: text => boundedCall(randomUUID(), Command.of('printf', '%s', text), 60),
  endCalls: text => endCalls([text, text]),
  buildCommand: text => buildCommand({ tag: text, labels: { [text]: text }, dockerfile: text, noCache: true }),
  startWork: text =>
    startWork({
      id: randomUUID(),
      command: Command.of('printf', '%s', text),
      inputBytes: 0,
      hasFiles: false,
      limitSeconds: 60,
      leaseSeconds: 40,
      outputBytes: 1000,
      isMerged: false,
    }),
};

/** How many words a real shell makes of each line; the operators of ours are words here. */
function wordsSeen(commands: readonly Command[]): number[] {
  const lines = commands.map(({ parts }) => {
    const words = parts.map(part => String(Command.of(typeof part === 'string' ? part : 'operator')));
    return `set -- ${words.join(' ')}; echo $#`;
  });
  return execFileSync('sh', { input: lines.join('\n') })
    .toString()
    .trim()
    .split('\n')
    .map(Number);
}

describe('no text adds a word to a command', () => {
  test('there are three hundred of them at least', () => {
    expect(PAYLOADS.length).toBeGreaterThanOrEqual(300);
  });

  test.each(Object.entries(builders))('%s', async (_, build) => {
    const host = new RecordingHost();
    const harmless = build('name').parts.length;
    const commands = PAYLOADS.map(build);
    for (const command of commands) await host.run(command);
    expect(new Set(host.said.map(({ parts }) => parts.length))).toEqual(new Set([harmless]));
    expect(new Set(wordsSeen(commands))).toEqual(new Set([harmless]));
  });

  test('nor does any random text, or a text inside a command inside a command', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 }).map(each => each.replaceAll('\0', ''));
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(builders)), text, (build, each) => {
        expect(build(each).parts.length).toBe(build('name').parts.length);
      }),
      { numRuns: 2000 },
    );
  });

  test('what is said to a far machine arrives there as it was, through two shells', () => {
    const words = PAYLOADS;
    const line = String(boundedCall(randomUUID(), Command.of('printf', '%s\\0', ...words), 60));
    const seen = execFileSync('sh', ['-c', line]).toString().split('\0').slice(0, -1);
    expect(seen).toEqual(words);
    expect(existsSync(sentinel)).toBe(false);
  });
});
