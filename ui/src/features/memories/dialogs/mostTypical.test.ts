import { mostTypical } from './mostTypical';

const memories = (...texts: string[]) =>
  texts.map((memory, at) => ({ id: `${at}`, memory, user_id: 'u', created_at: '', updated_at: '', metadata: null }));

test('the odd one out is not the one that is kept', () => {
  const group = memories(
    'Speaks Slovene with the neighbours of the house',
    'Lives in Ljubljana',
    'Lives now in Ljubljana',
  );
  expect(mostTypical(group)?.memory).not.toContain('Slovene');
});

test('of two the longer one is kept', () => {
  expect(mostTypical(memories('Likes tea', 'Likes green tea'))?.memory).toBe('Likes green tea');
});
