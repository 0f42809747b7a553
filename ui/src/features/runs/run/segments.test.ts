import { cut, segmentsOf } from './segments';

const variable = (name: string, start: number, end: number) => ({ name, message: 0, start, end });

test('a text is cut where variables begin and end, also empty ones', () => {
  expect(segmentsOf('Hi Mira!', [variable('name', 3, 7), variable('empty', 8, 8)])).toEqual([
    { text: 'Hi ' },
    { text: 'Mira', name: 'name' },
    { text: '!' },
    { text: '', name: 'empty' },
  ]);
});

test('places count characters, not halves of them', () => {
  expect(segmentsOf('🍲 soup', [variable('dish', 2, 6)])).toEqual([{ text: '🍲 ' }, { text: 'soup', name: 'dish' }]);
});

test('of a variable within another the inner one is told, and what lies outside the text is left out', () => {
  const found = segmentsOf('abcdef', [variable('one', 0, 4), variable('two', 1, 2), variable('far', 90, 99)]);
  expect(found).toEqual([
    { text: 'a', name: 'one' },
    { text: 'b', name: 'two' },
    { text: 'cd', name: 'one' },
    { text: 'ef' },
  ]);
});

test('one variable right behind another stays apart from it', () => {
  expect(segmentsOf('abab', [variable('it', 0, 2), variable('it', 2, 4)])).toEqual([
    { text: 'ab', name: 'it' },
    { text: 'ab', name: 'it' },
  ]);
});

test('only so many characters are kept', () => {
  expect(cut([{ text: 'abc' }, { text: 'def', name: 'x' }, { text: 'g' }], 4)).toEqual([
    { text: 'abc' },
    { text: 'd', name: 'x' },
  ]);
});
