import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from './change';
import { useResults } from './pages';

export type User = components['schemas']['UserRecord'];
export type OpenInvitation = components['schemas']['InvitationRecord'];
export type Wanted = components['schemas']['InvitationBody'];
export type UserChanges = components['schemas']['UserBody'];
/** What goes on when somebody's rights end. */
export type Left = Pick<components['schemas']['RemovedUser'], 'live_keys' | 'open_invitations'>;
export type Link = components['schemas']['Link'];

const USERS = ['users'];
const LIST = [...USERS, 'list'];
const INVITATIONS = [...USERS, 'invitations'];
const PAGE = 100;

/** The people that the caller manages, oldest first, page by page. */
export function useUsers() {
  const list = useInfiniteQuery({
    queryKey: LIST,
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET('/api/users', { params: { query: { limit: PAGE, ...(pageParam && { cursor: pageParam }) } } }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  });
  return { ...list, users: useResults(list.data) };
}

/** Names that have memories already. */
export function useMemoryUsers() {
  return useQuery({
    queryKey: [...USERS, 'memory'],
    queryFn: async () => (await unwrap(client.GET('/api/users/memory'))).results,
  });
}

export function useChangeUser() {
  return useChange(
    ({ id, changes }: { id: string; changes: UserChanges }) =>
      unwrap(client.PATCH('/api/users/{user_id}', { params: { path: { user_id: id } }, body: changes })),
    [USERS],
  );
}

/** Removes a person and their own keys; what is remembered of them stays. */
export function useRemoveUser() {
  return useChange(
    (id: string) => unwrap(client.DELETE('/api/users/{user_id}', { params: { path: { user_id: id } } })),
    [USERS, ['keys']],
  );
}

/** How much is kept under the memory user of callers who name none, such as all that was said before anybody signed in. */
export function useAdoptable(id: string, enabled: boolean) {
  return useQuery({
    queryKey: ['adoptable', id],
    queryFn: () => unwrap(client.GET('/api/users/{user_id}/adopt', { params: { path: { user_id: id } } })),
    enabled,
  });
}

/** Gives what is kept under a memory user to a person who has nothing yet. */
export function useAdopt() {
  return useChange(
    ({ id, from }: { id: string; from: string }) =>
      unwrap(
        client.POST('/api/users/{user_id}/adopt', {
          params: { path: { user_id: id } },
          body: { from_user: from },
        }),
      ),
    [USERS],
  );
}

/** Makes a link by which a person chooses a new password or passkey. */
export function useResetUser() {
  return useChange(
    (id: string) => unwrap(client.POST('/api/users/{user_id}/reset', { params: { path: { user_id: id } } })),
    [INVITATIONS],
  );
}

/** Invites somebody by a link, whose token is in the answer and nowhere else. */
export function useInvite() {
  return useChange((body: Wanted) => unwrap(client.POST('/api/invitations', { body })), [INVITATIONS]);
}

/** The invitations that nobody has used yet. */
export function useInvitations() {
  return useQuery({
    queryKey: INVITATIONS,
    queryFn: async () => (await unwrap(client.GET('/api/invitations'))).results,
  });
}

/** Takes an invitation back. */
export function useWithdraw() {
  return useChange(
    (id: string) =>
      unwrap(client.DELETE('/api/invitations/{invitation_id}', { params: { path: { invitation_id: id } } })),
    [INVITATIONS],
  );
}
