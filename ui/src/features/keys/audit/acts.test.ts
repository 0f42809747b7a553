import type { AuditEntry } from '@/shared/data/auditLog';
import { acts } from './acts';

const entry = (number: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ number, at: '2026-11-27T10:00:00Z', tenant: 'default', actor: 'user:Mira', action: 'export', target: 'noa' },
  ...{ result: 'done', request_id: '', address: '', of: null, count: 1 },
  ...more,
});

test('an act and its result are one row', () => {
  expect(acts([entry(3, { of: 2, result: '200' }), entry(2, { result: 'begun' }), entry(1)])).toMatchObject([
    { number: 2, result: '200', isOpen: false },
    { number: 1, result: 'done', isOpen: false },
  ]);
});

test('an act without a result is told as open', () => {
  expect(acts([entry(2, { result: 'begun' })])).toMatchObject([{ number: 2, isOpen: true }]);
});
