import { useMutation, useQuery } from '@tanstack/react-query';
import { client, send, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { saveFile } from '@/shared/files/files';
import { useMay } from './access';
import { useChange } from './change';

export type Hold = components['schemas']['HoldRecord'];
export type Erasure = components['schemas']['Erasure'];

/** Whose data it is: a memory user of a tenant. */
export interface Subject {
  user: string;
  tenant: string;
}

const HOLDS = ['holds'];
const pathOf = ({ user, tenant }: Subject) => ({ path: { user_id: user }, query: { tenant } });

/** The users of a tenant on legal hold, as far as the caller may know. */
export function useHolds(tenant: string) {
  const { admin } = useMay();
  return useQuery({
    queryKey: [...HOLDS, tenant],
    queryFn: async () => (await unwrap(client.GET('/api/holds', { params: { query: { tenant } } }))).results,
    enabled: admin,
  });
}

/** Keeps everything of a user from being deleted, for a reason. */
export function useHold() {
  return useChange(
    ({ reason, ...subject }: Subject & { reason: string }) =>
      unwrap(client.PUT('/api/holds/{user_id}', { params: pathOf(subject), body: { reason } })),
    [HOLDS],
  );
}

export function useLiftHold() {
  return useChange(
    (subject: Subject) => unwrap(client.DELETE('/api/holds/{user_id}', { params: pathOf(subject) })),
    [HOLDS],
  );
}

/** Has the browser save everything that is stored of a user, as one archive. */
export function useExportSubject() {
  return useMutation({
    mutationFn: async ({ user, tenant }: Subject) => {
      const path = `/api/subjects/${encodeURIComponent(user)}/export?tenant=${encodeURIComponent(tenant)}`;
      saveFile(await (await send(path, { method: 'POST' })).blob(), `${user}.zip`);
    },
  });
}

/** Erases everything of a user, for good; the report of it. Accounts with these memories go, too. */
export function useEraseSubject() {
  return useChange(
    (subject: Subject) => unwrap(client.POST('/api/subjects/{user_id}/erase', { params: pathOf(subject) })),
    [['users'], ['keys'], ['usage']],
  );
}
