import type { ConfigOverview, ConfigUser } from '@/shared/data/workflows';
import { modelFor } from './modelFor';

const user = (name: string, starts: ConfigUser['starts'], more: Partial<ConfigUser> = {}): ConfigUser => ({
  name,
  path: `Users/${name}.json`,
  is_served: true,
  is_current: false,
  models: [name],
  starts,
  problem: '',
  ...more,
});
const start = (path: string, when: string | null = null) => ({ name: path, path, when });
const tree: ConfigOverview = {
  root: '/tree',
  models: ['ann', 'ben', 'ben:poems'],
  files: [],
  users: [
    user('ann', [start('Workflows/ann/Chat.json')]),
    user('ben', [start('Workflows/ben/Sort.json'), start('Workflows/ben/Code.json', 'CODING')], {
      models: ['ben', 'ben:poems'],
    }),
    user('eve', [start('Workflows/eve/Chat.json')], { is_served: false, models: [] }),
  ],
};

test('the user is asked whose messages start at the file', () => {
  expect(modelFor(tree, 'Workflows/ben/Sort.json')).toEqual({ model: 'ben', hint: '' });
});

test('for a category it is said what leads there', () => {
  expect(modelFor(tree, 'Workflows/ben/Code.json').hint).toContain('“CODING”');
});

test('a shared folder is asked by its own model', () => {
  const shared = start('Workflows/_shared/poems/_DefaultWorkflow.json', 'model ben:poems');
  const users = tree.users.map(one => (one.name === 'ben' ? { ...one, starts: [shared] } : one));
  expect(modelFor({ ...tree, users }, shared.path)).toEqual({ model: 'ben:poems', hint: '' });
});

test('where no message starts the user of its folder is asked, and it is said', () => {
  expect(modelFor(tree, 'Workflows/ben/Inner.json').model).toBe('ben');
  const { model, hint } = modelFor(tree, 'Workflows/eve/Chat.json');
  expect(model).toBe('ann');
  expect(hint).toContain('No message starts');
});

test('beside the file of a user that user is asked, beside others anybody', () => {
  expect(modelFor(tree, 'Users/ben.json')).toEqual({ model: 'ben', hint: '' });
  expect(modelFor(tree, 'Endpoints/Main.json')).toEqual({ model: 'ann', hint: '' });
});
