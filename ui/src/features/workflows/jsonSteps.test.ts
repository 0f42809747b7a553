import { isWithin, pathOf, stepsOf } from './jsonSteps';

test.each([
  ['$', []],
  ['$[0].prompt', [0, 'prompt']],
  ['$.nodes[12].conditionalWorkflows["a b"]', ['nodes', 12, 'conditionalWorkflows', 'a b']],
  ['$.nodes[0].größe', ['nodes', 0, 'größe']],
])('%s is a way of steps, and back', (path, steps) => {
  expect(stepsOf(path)).toEqual(steps);
  expect(pathOf(steps)).toBe(path);
});

test('keys are read as Python writes them', () => {
  expect(stepsOf(String.raw`$['it\'s'].x`)).toEqual(["it's", 'x']);
  expect(stepsOf(String.raw`$["it's"]['tab\tin'][1]`)).toEqual(["it's", 'tab\tin', 1]);
  expect(stepsOf(String.raw`$['\x00\u202e\\']`)).toEqual(['\0\u202e\\']);
});

test('a path that cannot be read further leads as far as it can', () => {
  expect(stepsOf('$[0].a..b')).toEqual([0, 'a']);
  expect(stepsOf('')).toEqual([]);
});

test('a place lies in what is around it, and in itself', () => {
  expect(isWithin([0, 'prompt'], [0])).toBe(true);
  expect(isWithin([0], [0])).toBe(true);
  expect(isWithin([0], [0, 'prompt'])).toBe(false);
  expect(isWithin([10], [1])).toBe(false);
});
