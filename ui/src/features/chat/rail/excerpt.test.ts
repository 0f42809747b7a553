import { excerpt } from './excerpt';

test('the part around the first hit is shown, on one line', () => {
  const text = `${'before '.repeat(20)}green\ntea ${'after '.repeat(60)}`;
  const shown = excerpt(text, 'TEA nowhere');
  expect(shown).toMatch(/^….*green tea after.*…$/);
  expect(shown.length).toBeLessThan(170);
});

test('without a hit it is the beginning, and what nobody sees is named', () => {
  expect(excerpt('a\u202eb', 'tea')).toBe('a[U+202E]b');
});
