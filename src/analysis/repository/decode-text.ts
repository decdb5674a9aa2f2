const utf8 = new TextDecoder('utf-8', { fatal: true });
const lenientUtf8 = new TextDecoder('utf-8');
const utf16 = new TextDecoder('utf-16le');

/** Null for bytes that are no text. PowerShell writes `pip freeze > requirements.txt` as UTF-16, which is common enough to be read. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return utf16.decode(bytes);
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/** For the head of a longer file: the cut may fall inside a character. */
export const decodeHead = (bytes: Uint8Array): string => lenientUtf8.decode(bytes);
