import { expect, test } from 'vitest';
import { plainWords } from './plain';

test.each([
  ['```python\nprint(1)\n```', 'print(1)'],
  ['## Oars\n\n> **Two** or `four`', 'Oars\n\nTwo or four'],
  ['- see [the club](https://example.org/rowing)\n- ![boat](boat.png)', 'see the club\nboat'],
  ['2 * 3 * 4 and snake_case_name', '2 * 3 * 4 and snake_case_name'],
  ['#hashtag, a > b and ~~gone~~', '#hashtag, a > b and gone'],
])('%j is %j without marks', (markdown, words) => {
  expect(plainWords(markdown)).toBe(words);
});

test('a long text of marks takes no time', () => {
  const began = performance.now();
  for (const mark of ['`', '*', '[', '![', '> ', '**a']) plainWords(mark.repeat(20_000));
  expect(performance.now() - began).toBeLessThan(2_000);
});
