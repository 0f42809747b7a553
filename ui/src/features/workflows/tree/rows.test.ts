import type { ConfigFile, ConfigProblem } from '@/shared/data/workflows';
import { foldersOf, rowsOf } from './rows';

const file = (path: string): ConfigFile => ({ path, kind: 'other', size_bytes: 1, modified_at: null });
const FILES = ['Endpoints/Main.json', 'Users/ann.json', 'Workflows/Ann/Chat.json', 'Workflows/Ann/Sub.json'].map(
  file,
);

function seen(open: string[], wanted = '', problems: ConfigProblem[] = []) {
  return rowsOf(FILES, new Set(open), problems, wanted).map(
    row => `${' '.repeat(row.depth)}${row.name}${row.isFolder ? '/' : ''} ${row.errors}`,
  );
}

test('closed folders hide what is in them, and users come first', () => {
  expect(seen(['Users'])).toEqual(['Users/ 0', ' ann 0', 'Workflows/ 0', 'Endpoints/ 0']);
});

test('words of a path open the way to what has them all', () => {
  expect(seen([], 'sub work')).toEqual(['Workflows/ 0', ' Ann/ 0', '  Sub 0']);
  expect(seen([], 'none of these')).toEqual([]);
});

test('folders count what is wrong in all of their files', () => {
  const problem: ConfigProblem = {
    file: 'Workflows/Ann/Sub.json',
    path: '$',
    level: 'error',
    cause: 'It is broken.',
    fix: '',
  };
  expect(seen(['Workflows'], '', [problem, { ...problem, level: 'warning' }])).toEqual([
    'Users/ 0',
    'Workflows/ 1',
    ' Ann/ 1',
    'Endpoints/ 0',
  ]);
});

test('a file is in all folders on its way', () => {
  expect(foldersOf('a/b/c.json')).toEqual(['a', 'a/b']);
  expect(foldersOf('c.json')).toEqual([]);
});
