import { settledBlocks } from './settledBlocks';

test.each([
  ['', ['']],
  ['one', ['one']],
  ['one\n\ntwo', ['one\n\n', 'two']],
  ['one\n\n```\na\n\nb\n```\n\ntwo', ['one\n\n', '```\na\n\nb\n```\n\n', 'two']],
  ['````\n```\n\nx\n````\n\ny', ['````\n```\n\nx\n````\n\n', 'y']],
  ['1. a\n\n2. b\n\nend', ['1. a\n\n2. b\n\n', 'end']],
  ['- a\n\n  still a\n\n- b', ['- a\n\n  still a\n\n- b']],
])('%j is cut where nothing can change any more', (text, blocks) => {
  expect(settledBlocks(text)).toEqual(blocks);
  expect(settledBlocks(text).join('')).toBe(text);
});

test('what is cut off stays cut off while the text grows', () => {
  const text = 'Intro\n\n- a\n- b\n\nThen:\n\n```js\nlet x;\n\nlet y;\n```\n\nEnd.';
  for (let length = 1; length < text.length; length += 1) {
    const now = settledBlocks(text.slice(0, length)).slice(0, -1);
    const later = settledBlocks(text.slice(0, length + 1));
    expect(later.slice(0, now.length)).toEqual(now);
  }
});
