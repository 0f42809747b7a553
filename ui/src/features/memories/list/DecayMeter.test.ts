import { leftOf, sentenceOf } from './DecayMeter';

const FROM = '2026-03-01T00:00:00Z';
const TO = '2026-03-11T00:00:00Z';

test.each([
  ['2026-03-01T00:00:00Z', 100],
  ['2026-03-06T00:00:00Z', 50],
  ['2026-03-12T00:00:00Z', 0],
  ['2026-02-01T00:00:00Z', 100],
])('at %s there are %d percent left', (now, left) => {
  expect(leftOf(FROM, TO, Date.parse(now))).toBe(left);
});

test('a time that cannot be read leaves nothing', () => {
  expect(leftOf('someday', TO)).toBe(0);
});

test('each state is said in words', () => {
  expect(sentenceOf('current', null)).toBe('Does not decay');
  expect(sentenceOf('current', null, '2026-05-01')).toBe('Expires after 2026-05-01');
  expect(sentenceOf('expired', null, '2026-05-01')).toBe('Expired after 2026-05-01');
  expect(sentenceOf('hidden', '2020-01-01T00:00:00Z')).toMatch(/^Hidden: decayed .+ ago$/);
});
