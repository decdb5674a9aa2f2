/**
 * The words of CMD for a start command. The program itself must be process 1, or it never hears SIGTERM:
 * plain words need no shell, everything else gets one that replaces itself where it can.
 */
export function startWords(command: string): readonly string[] {
  const trimmed = command.trim();
  return isPlain(trimmed) ? trimmed.split(/ +/) : ['sh', '-c', withExec(trimmed)];
}

/** No quote, variable, pattern, operator or assignment: a shell would split it the same way. */
const isPlain = (command: string): boolean => /^[\w./@:+,-][\w./@:=+,% -]*$/.test(command) && !/^\w+=/.test(command);

function withExec(command: string): string {
  if (/^exec\s/.test(command) || !isChain(command)) return command;
  const last = command.includes('&& ') ? command.lastIndexOf('&& ') + '&& '.length : 0;
  const step = command.slice(last).trimStart();
  return startsProgram(step) ? `${command.slice(0, last)}exec ${step}` : command;
}

/** Steps joined by && and nothing else outside of quotes; with a pipe or a second line there is no single program to become. */
function isChain(command: string): boolean {
  const unquoted = command.replace(/'[^']*'|"[^"]*"|\$\([^()'"]*\)/g, '').replaceAll('&&', '');
  const hasOddQuote = /['"]/.test(unquoted);
  return !hasOddQuote && !/[;|&\n\r`()]/.test(unquoted) && !/&&\s/.test(quotedParts(command));
}

const quotedParts = (command: string): string => (command.match(/'[^']*'|"[^"]*"|\$\([^()]*\)/g) ?? []).join('\n');

/** `exec A=1 prog`, `exec if …` and `exec cd x` are not what they look like. */
const startsProgram = (step: string): boolean => /^[\w./~-]+(?:\s|$)/.test(step) && !shellWords.test(step);
const shellWords =
  /^(?:if|while|for|until|case|cd|export|set|source|eval|trap|unset|ulimit|umask|wait|read|function|then|do)\b|^\.\s/;
