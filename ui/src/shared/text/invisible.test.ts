import { codePoint, pieces } from './invisible';

test('plain text is one piece', () => {
  expect(pieces('Allergic to nuts\n\tand dust')).toEqual([{ words: 'Allergic to nuts\n\tand dust' }]);
});

test.each([
  ['a direction override', '\u202e', 'U+202E'],
  ['a zero-width space', '\u200b', 'U+200B'],
  ['a byte order mark', '\ufeff', 'U+FEFF'],
  ['a tag character', '\u{e0041}', 'U+E0041'],
  ['an escape of a terminal', '\u001b', 'U+001B'],
  ['a Hangul filler', '\u3164', 'U+3164'],
  ['a grapheme joiner', '\u034f', 'U+034F'],
  ['a selector of a variant that a letter does not have', '\ufe01', 'U+FE01'],
])('%s becomes a piece of its own', (_, character, name) => {
  expect(pieces(`a${character}b`)).toEqual([{ words: 'a' }, { invisible: character }, { words: 'b' }]);
  expect(codePoint(character)).toBe(name);
});

test.each([
  ['emoji', '👩\u200d🔬'],
  ['emoji with a skin colour', '👩🏽\u200d🔬'],
  ['Persian letters', 'می\u200cخواهم'],
  ['emoji with a chosen look', '❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ☺\ufe0e'],
  ['variants of an ideograph', '葛\ufe00'],
])('joiners and selectors within %s stay', (_, text) => {
  expect(pieces(text)).toEqual([{ words: text }]);
});

test('a joiner between Latin letters is shown', () => {
  expect(pieces('pass\u200dword')).toContainEqual({ invisible: '\u200d' });
});

test('selectors one behind the other, which carry hidden words, are shown', () => {
  expect(pieces('😀\ufe0f\ufe01\ufe02')).toEqual([
    { words: '😀\ufe0f' },
    { invisible: '\ufe01' },
    { invisible: '\ufe02' },
  ]);
});
