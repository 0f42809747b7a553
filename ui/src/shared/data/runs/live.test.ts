import { listed } from '@/shared/testing/runs';
import { Gathered, withRun } from './live';

const ALL = { q: '', status: '', workflow: '', conversation: '', user: '', error: '', since: '' } as const;
const pages = (...ids: string[]) => ({
  pages: [{ results: ids.map(id => listed(id)), next: null }],
  pageParams: [''],
});
const ids = (data: ReturnType<typeof withRun>) => data.pages.flatMap(page => page.results.map(run => run.id));

test('a new run stands at the top', () => {
  expect(ids(withRun(pages('b', 'a'), ALL, listed('c')))).toEqual(['c', 'b', 'a']);
});

test('a known run is changed in its place', () => {
  const data = withRun(pages('b', 'a'), ALL, listed('a', { status: 'failed' }));
  expect(data.pages[0]?.results.map(run => run.status)).toEqual(['finished', 'failed']);
});

test('what the filters leave out is not taken in, and goes when it fits no more', () => {
  const running = { ...ALL, status: 'running' } as const;
  expect(ids(withRun(pages(), running, listed('a')))).toEqual([]);
  expect(ids(withRun(pages('a'), running, listed('a', { status: 'finished' })))).toEqual([]);
  expect(ids(withRun(pages(), { ...ALL, workflow: 'CHAT', user: 'mira' }, listed('a')))).toEqual(['a']);
  const asked = listed('a', { question: 'Is it LATE?' });
  expect(ids(withRun(pages(), { ...ALL, q: ' late  it ' }, asked))).toEqual(['a']);
  expect(ids(withRun(pages(), { ...ALL, q: 'late far' }, asked))).toEqual([]);
  expect(ids(withRun(pages(), { ...ALL, error: 'down' }, listed('a', { error: 'It is DOWN.' })))).toEqual(['a']);
});

test('what comes again and again is handed on once, and again when it comes later', () => {
  vi.useFakeTimers();
  try {
    const handedOn: string[] = [];
    const gathered = new Gathered(name => handedOn.push(name), 200);
    for (const name of ['a', 'b', 'a', 'a']) gathered.add(name);
    expect(handedOn).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(handedOn).toEqual(['a', 'b']);
    gathered.add('a');
    vi.advanceTimersByTime(200);
    expect(handedOn).toEqual(['a', 'b', 'a']);
  } finally {
    vi.useRealTimers();
  }
});
