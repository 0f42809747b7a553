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
])('%s becomes a piece of its own', (_, character, name) => {
  expect(pieces(`a${character}b`)).toEqual([{ words: 'a' }, { invisible: character }, { words: 'b' }]);
  expect(codePoint(character)).toBe(name);
});

test.each([
  ['emoji', '👩\u200d🔬'],
  ['emoji with a skin colour', '👩🏽\u200d🔬'],
  ['Persian letters', 'می\u200cخواهم'],
])('joiners within %s stay', (_, text) => {
  expect(pieces(text)).toEqual([{ words: text }]);
});

test('a joiner between Latin letters is shown', () => {
  expect(pieces('pass\u200dword')).toContainEqual({ invisible: '\u200d' });
});
