import type { LoggedChange } from '@/shared/data/memories/changes';
import type { ListedMemory } from '@/shared/data/memories/list';
import type { MapPoint } from '@/shared/data/memories/map';
import type { Proposal } from '@/shared/data/memories/proposals';
import { cardsOf, DAY_MS } from './week';

const NOW = Date.parse('2026-03-20T12:00:00Z');
const ago = (days: number) => new Date(NOW - days * DAY_MS).toISOString();

const memory = (id: string, days: number) => ({ id, memory: id, created_at: ago(days) }) as ListedMemory;
const point = (id: string, days: number, recalls: number) =>
  ({ id, memory: id, created_at: ago(days), recalls }) as MapPoint;

function change(id: string, reason: string, more: Partial<LoggedChange> = {}): LoggedChange {
  const row = { event: 'UPDATE' as const, memory_id: `of ${id}`, old_memory: 'old', new_memory: 'new', reason };
  return { id, created_at: ago(1), rows: [row], model: null, session: null, undo_of: null, undone_by: null, ...more };
}

const closing = (id: string, reason = 'superseded') => {
  const [row] = change(id, reason).rows;
  return change(id, '', { rows: row ? [{ ...row, event: 'DELETE', new_memory: null, reason }] : [] });
};

const doubt = { id: 'doubt', memory_id: 'x', memory: 'Eats fish', previous_memory: 'Is vegetarian' } as Proposal;

function kinds(found: Partial<Parameters<typeof cardsOf>[0]>): string[] {
  const nothing = { learned: [], changes: [], proposals: [], points: [], seen: new Set<string>(), now: NOW };
  return cardsOf({ ...nothing, ...found }).map(({ kind, key }) => `${kind} ${key}`);
}

test('doubts come first, then what ended and changed, what is new, and what nothing asked for', () => {
  const told = kinds({
    learned: [memory('tea', 2), memory('long ago', 8)],
    changes: [closing('closed'), change('changed', 'reconciled')],
    proposals: [{ ...doubt, reason: 'unconfirmed', created_at: ago(1) }],
    points: [point('idle', 100, 0), point('young', 10, 0), point('used', 100, 3)],
  });
  expect(told).toEqual([
    'contradicts doubt',
    'closed closed of closed',
    'changed changed of changed',
    'learned tea',
    'unused idle',
  ]);
});

test('what one did oneself, what was undone, and what was looked at is not shown again', () => {
  const changes = [
    change('a', 'edit'),
    change('b', 'reconciled', { undone_by: 'c' }),
    change('c', 'reconciled', { undo_of: 'b' }),
    change('d', 'reconciled', { created_at: ago(9) }),
    closing('e', 'moved to atlas'),
    closing('f', 'merged into g'),
    closing('g', 'request'),
  ];
  expect(kinds({ changes, learned: [memory('tea', 1)], seen: new Set(['tea']) })).toEqual([]);
});

test('a memory has one card, and where no answer was given any, none counts as unused', () => {
  const changed = change('a', 'reconciled');
  expect(kinds({ changes: [changed], learned: [memory('of a', 1)] })).toEqual(['changed a of a']);
  expect(kinds({ points: [point('a', 100, 0), point('b', 200, 0)] })).toEqual([]);
});
