import { memoryUse } from './memoryUse';
import type { ConfigOverview } from './workflows';

type File = ConfigOverview['files'][number];
type User = ConfigOverview['users'][number];

const file = (path: string, can_remember: boolean | null) => ({ path, can_remember }) as File;
const start = (path: string | null, when: string | null = null) => ({ name: '', path, when });
const tree = (starts: User['starts'], ...files: File[]): ConfigOverview => {
  const mira = { name: 'mira', path: '', is_served: true, is_current: true, problem: '' };
  return { root: '/tree', users: [{ ...mira, models: ['mira', 'mira:quick'], starts }], models: [], files };
};

test('a workflow without nodes of memory uses none', () => {
  expect(memoryUse(tree([start('Chat')], file('Chat', false)), 'mira')).toBe(false);
  expect(memoryUse(tree([start('Chat')], file('Chat', true)), 'mira')).toBe(true);
});

test('one of several that a message may come to is enough', () => {
  const starts = [start('Categorise'), start('Cooking', 'COOKING')];
  expect(memoryUse(tree(starts, file('Categorise', false), file('Cooking', true)), 'mira')).toBe(true);
  expect(memoryUse(tree(starts, file('Categorise', false), file('Cooking', false)), 'mira')).toBe(false);
});

test('a shared workflow counts where it is asked', () => {
  const starts = [start('Chat'), start('Quick', 'model mira:quick')];
  const files = [file('Chat', true), file('Quick', false)];
  expect(memoryUse(tree(starts, ...files), 'mira:quick')).toBe(false);
  expect(memoryUse(tree(starts, ...files), 'mira')).toBe(true);
});

test('what is not known is neither a yes nor a no', () => {
  const starts = [start('Chat'), start('Broken')];
  const half = tree(starts, file('Chat', false), file('Broken', null));
  expect(memoryUse(tree([start(null)]), 'mira')).toBeNull();
  expect(memoryUse(half, 'mira')).toBeNull();
  expect(memoryUse(tree([start('Chat')], file('Chat', false)), 'somebody')).toBeNull();
});

test('the built-in workflow is the only file', () => {
  const builtIn = (remembers: boolean) => ({
    root: null,
    users: [],
    models: [],
    files: [file('default', remembers)],
  });
  expect([memoryUse(builtIn(true), 'any'), memoryUse(builtIn(false), 'any')]).toEqual([true, false]);
});
