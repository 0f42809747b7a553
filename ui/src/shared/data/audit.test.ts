import { type AuditEntry, withoutEnded } from './audit';

function entry(number: number, result: string, of: number | null = null): AuditEntry {
  const rest = {
    tenant: 'default',
    actor: 'k',
    action: 'memories.export',
    target: '',
    user: '',
    request_id: '',
    address: '',
  };
  return { number, at: '2026-03-01T10:00:00Z', result, of, count: 1, ...rest };
}

test('the beginning of an act gives way to its result, and stays where there is none', () => {
  const entries = [entry(5, '200', 2), entry(4, 'begun'), entry(3, 'done'), entry(2, 'begun')];
  expect(withoutEnded(entries).map(each => each.number)).toEqual([5, 4, 3]);
});
