import { codePoint, pieces } from '@/shared/text/invisible';

const LONGEST = 160; // characters
const BEFORE = 40;

/** The part of a text around the first of the words; invisible characters are named, line breaks are blanks. */
export function excerpt(text: string, words: string): string {
  const lower = text.toLowerCase();
  const places = words
    .toLowerCase()
    .split(/\s+/)
    .map(word => lower.indexOf(word))
    .filter(at => at >= 0);
  const start = places.length ? Math.max(0, Math.min(...places) - BEFORE) : 0;
  const part = text.slice(start, start + LONGEST);
  const seen = pieces(part)
    .map(piece => ('words' in piece ? piece.words : `[${codePoint(piece.invisible)}]`))
    .join('')
    .replace(/\s+/g, ' ');
  return `${start > 0 ? '…' : ''}${seen}${start + LONGEST < text.length ? '…' : ''}`;
}
