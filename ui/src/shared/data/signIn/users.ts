import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { useResults } from '../pages';

export type User = components['schemas']['UserRecord'];
export type OpenInvitation = components['schemas']['InvitationRecord'];
export type InvitationWanted = components['schemas']['InvitationBody'];
export type Link = components['schemas']['Link'];

const USERS = ['users'];
const INVITATIONS = ['users', 'invitations'];

/** The people whom the caller manages, oldest first, page by page. */
export function useUsers() {
  const list = useInfiniteQuery({
    queryKey: [...USERS, 'list'],
    queryFn: ({ pageParam }) =>
      unwrap(client.GET('/api/users', { params: { query: pageParam ? { cursor: pageParam } : {} } })),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  });
  return { ...list, users: useResults(list.data) };
}

/** Names whose memories are there already. */
export function useMemoryUsers() {
  return useQuery({
    queryKey: [...USERS, 'memory'],
    queryFn: async () => (await unwrap(client.GET('/api/users/memory'))).results,
  });
}

export function useInvitations() {
  return useQuery({
    queryKey: INVITATIONS,
    queryFn: async () => (await unwrap(client.GET('/api/invitations'))).results,
  });
}

/** Makes an invitation; its link is in the answer and nowhere else. */
export function useInvite() {
  return useChange((body: InvitationWanted) => unwrap(client.POST('/api/invitations', { body })), [INVITATIONS]);
}

export function useWithdraw() {
  return useChange(
    (id: string) =>
      unwrap(client.DELETE('/api/invitations/{invitation_id}', { params: { path: { invitation_id: id } } })),
    [INVITATIONS],
  );
}

type UserChange = components['schemas']['UserBody'] & { id: string };

export function useChangeUser() {
  return useChange(
    ({ id, ...body }: UserChange) =>
      unwrap(client.PATCH('/api/users/{user_id}', { params: { path: { user_id: id } }, body })),
    [USERS],
  );
}

export function useRemoveUser() {
  return useChange(
    (id: string) => unwrap(client.DELETE('/api/users/{user_id}', { params: { path: { user_id: id } } })),
    [USERS],
  );
}

/** Makes a link by which somebody chooses a new password or passkey. */
export function useResetUser() {
  return useChange(
    (id: string) => unwrap(client.POST('/api/users/{user_id}/reset', { params: { path: { user_id: id } } })),
    [INVITATIONS],
  );
}
