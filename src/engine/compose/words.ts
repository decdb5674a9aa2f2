/** The words of a command as a POSIX shell would split it, without anything else a shell does; null where a quote is open. */
export function splitWords(command: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at] as string;
    if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    const piece = pieceAt(command, at);
    if (piece === null) return null;
    word = (word ?? '') + piece.text;
    at = piece.last;
  }
  return word === null ? words : [...words, word];
}

interface Piece {
  text: string;
  last: number;
}

function pieceAt(command: string, at: number): Piece | null {
  const character = command[at] as string;
  if (character === "'") {
    const close = command.indexOf("'", at + 1);
    return close < 0 ? null : { text: command.slice(at + 1, close), last: close };
  }
  if (character === '"') return inQuotes(command, at);
  if (character !== '\\') return { text: character, last: at };
  return at + 1 < command.length ? { text: command[at + 1] as string, last: at + 1 } : null;
}

function inQuotes(command: string, at: number): Piece | null {
  let text = '';
  for (let next = at + 1; next < command.length; next += 1) {
    const character = command[next] as string;
    if (character === '"') return { text, last: next };
    const isEscape = character === '\\' && /["\\$`\n]/.test(command[next + 1] ?? '');
    if (isEscape) next += 1;
    text += isEscape ? command[next] : character;
  }
  return null;
}
