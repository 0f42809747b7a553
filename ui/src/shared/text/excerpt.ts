export interface Bit {
  text: string;
  isMatch: boolean;
}

/** How much of a text is shown, in characters; `before` of them in front of the first match. */
export interface Room {
  before: number;
  length: number;
}

/** The part of a text where the words of a query stand first, in bits; its beginning where none does. */
export function excerptOf(text: string, query: string, { before, length }: Room): Bit[] {
  const flat = text.slice(0, 200_000).replace(/\s+/g, ' ').trim();
  const words = query
    .split(/\s+/)
    .map(word => word.replace(/[?!.,;:…]+$/u, ''))
    .filter(word => /[\p{L}\p{N}]/u.test(word));
  const matches = matcher(words);
  const first = matches ? flat.search(matches) : -1;
  const start = Math.max(0, first - before);
  const cut = flat.slice(start, start + length);
  const bits = matches ? split(cut, matches) : [{ text: cut, isMatch: false }];
  if (start > 0) bits.unshift({ text: '…', isMatch: false });
  if (start + length < flat.length) bits.push({ text: '…', isMatch: false });
  return bits.filter(bit => bit.text);
}

function matcher(words: readonly string[]): RegExp | null {
  if (words.length === 0) return null;
  const longestFirst = [...words].sort((one, other) => other.length - one.length).slice(0, 50);
  return new RegExp(`(${longestFirst.map(whole).join('|')})`, 'giu');
}

function split(text: string, matches: RegExp): Bit[] {
  return text.split(matches).map((piece, at) => ({ text: piece, isMatch: at % 2 === 1 }));
}

/** From the beginning of a word on; of one or two letters, all of it. Where words have no spaces, anywhere. */
function whole(word: string): string {
  if (!/^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u.test(word)) return escaped(word);
  const end = word.length < 3 ? '(?![\\p{L}\\p{N}])' : '';
  return `(?<![\\p{L}\\p{N}])${escaped(word)}${end}`;
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
