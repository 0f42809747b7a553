import { bytes } from '@/shared/text/bytes';
import { lasting, milliseconds, percent } from './format';

test.each([
  [0, '0 B'],
  [1023, '1,023 B'],
  [1536, '1.5 KiB'],
  [200 * 1024 ** 2, '200 MiB'],
  [3 * 1024 ** 4, '3 TiB'],
])('%d bytes are %s', (size, shown) => {
  expect(bytes(size)).toBe(shown);
});

test('times are as short as they can be read', () => {
  expect([null, 0.42, 23.4, 1840].map(milliseconds)).toEqual(['–', '0.4 ms', '23 ms', '1.8 s']);
  expect([30, 60, 3_700, 200_000].map(lasting)).toEqual([
    'less than a minute',
    '1 minute',
    '1 hour, 1 minute',
    '2 days, 7 hours',
  ]);
});

test('only what is done is shown as done', () => {
  expect([percent(0, 0), percent(9_999, 10_000), percent(3, 3)]).toEqual([100, 99, 100]);
});
