import type { ConfigOverview } from '@/shared/data/workflows';
import { matching, modelEntries } from './modelEntries';

const start = (path: string, when: string | null = null) => ({ name: 'x', path: `Workflows/${path}.json`, when });
const user = (name: string, models: string[], ...starts: ConfigOverview['users'][number]['starts']) => ({
  ...{ name, path: '', is_served: true, is_current: false, problem: '' },
  models,
  starts,
});
const TREE: ConfigOverview = {
  root: '/tree',
  models: [],
  users: [
    user('Ann', ['Ann', 'Ann:code'], start('Ann/Chat'), start('_shared/code/Start', 'model Ann:code')),
    user('Bo', ['Bo'], start('Bo/Sort'), start('Bo/Cook', 'COOKING'), start('Bo/Plain', 'no category')),
  ],
  files: [
    { path: 'Workflows/Ann/Chat.json', kind: 'workflows', size_bytes: 1, modified_at: null, can_remember: true },
    {
      path: 'Workflows/_shared/code/Start.json',
      kind: 'workflows',
      size_bytes: 1,
      modified_at: null,
      can_remember: false,
    },
  ],
};

test('an entry tells the workflow that answers, and whether it uses memory', () => {
  expect(modelEntries(['Ann', 'Ann:code', 'Bo', 'gone'], TREE)).toEqual([
    { name: 'Ann', description: 'Workflow Ann/Chat', remembers: true },
    { name: 'Ann:code', description: 'Workflow _shared/code/Start', remembers: false },
    { name: 'Bo', description: 'Routed by category: COOKING', remembers: false },
    { name: 'gone', description: '', remembers: false },
  ]);
});

test('words are looked for in names and descriptions, all of them, in any case', () => {
  const entries = modelEntries(['Ann', 'Ann:code', 'Bo'], TREE);
  const found = (words: string) => matching(entries, words).map(({ name }) => name);
  expect([found('ann'), found('shared ANN'), found('cooking'), found('nobody')]).toEqual([
    ['Ann', 'Ann:code'],
    ['Ann:code'],
    ['Bo'],
    [],
  ]);
});
