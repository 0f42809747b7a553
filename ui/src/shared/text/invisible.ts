/** A piece of text: words, or one character that nobody would see. */
export type Piece = { words: string } | { invisible: string };

const INVISIBLE =
  /[\p{Cf}\p{Cc}\p{Co}\u115f\u1160\u3164\uffa0\u2800\u2028\u2029]|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/u;
const LAYOUT = new Set(['\n', '\t', '\r']);
const JOINERS = new Set(['\u200c', '\u200d']);
const SELECTOR = /[\ufe00-\ufe0f]/; // chooses how the character before it looks; elsewhere it can carry hidden words
const VARYING =
  /[\p{Extended_Pictographic}\p{S}0-9#*\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Manichaean}]/u;
const PICTURE = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u;
const JOINED_SCRIPT = /[\p{L}\p{M}]/u;
const UNJOINED_SCRIPT = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;

/**
 * Text in pieces, so that what cannot be seen (zero-width, direction, tag and control characters) can be shown.
 * Joiners stay where writing needs them: within emoji, and between letters of scripts that join; selectors of a
 * variant where there are variants.
 */
export function pieces(text: string): Piece[] {
  if (!INVISIBLE.test(text)) return [{ words: text }];
  const found: Piece[] = [];
  const characters = Array.from(text);
  let words = '';
  characters.forEach((character, at) => {
    if (isSeen(character, characters[at - 1], characters[at + 1])) {
      words += character;
      return;
    }
    if (words) found.push({ words });
    words = '';
    found.push({ invisible: character });
  });
  if (words) found.push({ words });
  return found;
}

/** `U+202E` */
export function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function isSeen(character: string, before?: string, after?: string): boolean {
  if (!INVISIBLE.test(character) || LAYOUT.has(character)) return true;
  if (SELECTOR.test(character)) return before !== undefined && VARYING.test(before);
  return JOINERS.has(character) && before !== undefined && after !== undefined && joins(before, after);
}

function joins(before: string, after: string): boolean {
  if (PICTURE.test(before) && PICTURE.test(after)) return true;
  return [before, after].every(letter => JOINED_SCRIPT.test(letter) && !UNJOINED_SCRIPT.test(letter));
}
