import type { Grant } from '../grants';
import { changesOf } from './UserDialog';

const BEFORE: Grant & { operator: boolean } = {
  role: 'write',
  operator: false,
  user: 'mira',
  projects: ['kitchen'],
  configs: [],
  tenant: 'default',
};

test('only what differs is sent, and an empty list as all', () => {
  expect(changesOf(BEFORE, BEFORE)).toEqual({});
  expect(changesOf(BEFORE, { ...BEFORE, role: 'read', projects: [], configs: ['tutor'] })).toEqual({
    role: 'read',
    projects: null,
    configs: ['tutor'],
  });
});
