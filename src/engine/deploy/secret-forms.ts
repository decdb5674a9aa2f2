import { plainText } from './plain-text.ts';

/** Shorter values would be found everywhere, and tell more by their absence than by being read. */
const LEAST_BYTES = 6;

/** How a secret may stand in a text. `left` and `right`: so many characters beside it that are partly made of it. */
export interface SecretForm {
  text: string;
  left: number;
  right: number;
}

/** Every way in which programs print a value, each once. */
export function formsOf(secrets: readonly string[]): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  for (const value of secrets.flatMap(partsOf)) {
    for (const text of plainFormsOf(value)) if (!forms.has(text)) forms.set(text, { text, left: 0, right: 0 });
    for (const form of base64FormsOf(value)) forms.set(form.text, form);
  }
  return [...forms.values()];
}

/** A log has no line that holds a value of many: its lines are looked for one by one. */
function partsOf(secret: string): string[] {
  const value = secret.toWellFormed();
  const lines = value.split(/\r\n|[\r\n]/);
  const parts = new Set([value, ...lines, ...lines.map(line => line.trim())]);
  return [...parts].filter(isWorthHiding);
}

const isWorthHiding = (value: string): boolean => Buffer.byteLength(value) >= LEAST_BYTES;

function plainFormsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const strict = url.replace(/[!'()*]/g, escapeByte);
  const asForm = strict.replaceAll('%20', '+');
  const urls = [url, strict, asForm, encodeURI(value), strict.replaceAll('%2F', '/'), url.replaceAll('%2F', '/')];
  const forms = [value, json, asciiJson(json), json.replaceAll('/', '\\/'), value.replaceAll("'", String.raw`'\''`)];
  const all = [...forms, ...urls, ...urls.map(lowerEscapes)];
  return [...new Set([...all, ...all.map(plainText)])].filter(isWorthHiding);
}

const escapeByte = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;

const lowerEscapes = (text: string): string => text.replace(/%[0-9A-F]{2}/g, byte => byte.toLowerCase());

const asciiJson = (json: string): string =>
  json.replace(/[^\x20-\x7e]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Three bytes are four letters: inside a longer text a value may begin at any of the three. */
const base64FormsOf = (value: string): SecretForm[] =>
  [0, 1, 2].flatMap(before => {
    const bytes = Buffer.from(value);
    const letters = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const isWhole = (before + bytes.length) % 3 === 0;
    // The letters at the borders are partly made of what stands beside the value.
    const text = letters.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
    const form = { text, left: before === 0 ? 0 : 1, right: isWhole ? 0 : 1 };
    return [form, { ...form, text: text.replaceAll('+', '-').replaceAll('/', '_') }];
  });
