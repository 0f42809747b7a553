import { useMutation, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import type { components } from '@/shared/api/schema';
import { useChange } from './change';
import { makePasskey } from './passkeys';
import { signedByPasskey } from './signIn';

export type PasskeyRecord = components['schemas']['PasskeyRecord'];
export type SessionRecord = components['schemas']['SessionRecord'];

const PASSKEYS = ['account', 'passkeys'];
const SESSIONS = ['account', 'sessions'];

/** Has whoever signed in show again who they are; resolves to whether they did. */
export type AskAgain = () => Promise<boolean>;

/** Other sessions end. */
export function useChangePassword(askAgain: AskAgain) {
  return useChange(
    (chosen: string) => confirmed(() => unwrap(client.PUT('/api/me/password', { body: { new: chosen } })), askAgain),
    [SESSIONS],
  );
}

/** Says where the person lives, whose days their other apps are then read in; null takes it back. */
export function useSetTimeZone() {
  return useChange(
    (zone: string | null) => unwrap(client.PATCH('/api/me', { body: { time_zone: zone } })),
    [['auth']],
  );
}

/** Does what the server allows only for ten minutes after its user showed who they are, and asks them where need be. */
async function confirmed<Done>(change: () => Promise<Done>, askAgain: AskAgain): Promise<Done> {
  try {
    return await change();
  } catch (error) {
    const isWanted = error instanceof ApiError && error.code === 'confirmation_needed';
    if (!isWanted || !(await askAgain())) throw error;
    return await change();
  }
}

/** Shows the server again who signed in: by their password, null for a passkey. */
export function useConfirm() {
  return useMutation({
    mutationFn: async (password: string | null) => {
      const body = password === null ? { passkey: await signedByPasskey() } : { password };
      return unwrap(client.POST('/api/me/confirm', { body }));
    },
  });
}

export function usePasskeys() {
  return useQuery({
    queryKey: PASSKEYS,
    queryFn: async () => (await unwrap(client.GET('/api/me/passkeys'))).results,
  });
}

/** Has this browser make a passkey, and keeps it below a label. */
export function useAddPasskey(askAgain: AskAgain) {
  return useChange(
    async (label: string) => {
      const asked = await confirmed(() => unwrap(client.POST('/api/me/passkeys/options')), askAgain);
      const answer = await makePasskey(asked);
      return unwrap(client.POST('/api/me/passkeys', { body: { ...answer, label } }));
    },
    [PASSKEYS],
  );
}

export function useRemovePasskey() {
  return useChange(
    (id: string) => unwrap(client.DELETE('/api/me/passkeys/{passkey_id}', { params: { path: { passkey_id: id } } })),
    [PASSKEYS],
  );
}

/** Where the person is signed in, newest first. */
export function useSessions() {
  return useQuery({
    queryKey: SESSIONS,
    queryFn: async () => (await unwrap(client.GET('/api/me/sessions'))).results,
  });
}

export function useEndSession() {
  return useChange(
    (id: string) => unwrap(client.DELETE('/api/me/sessions/{session_id}', { params: { path: { session_id: id } } })),
    [SESSIONS],
  );
}

/** Ten new codes; those before count no more. */
export function useNewRecoveryCodes(askAgain: AskAgain) {
  const renew = () => unwrap(client.POST('/api/me/recovery-codes'));
  return useChange(async () => (await confirmed(renew, askAgain)).recovery_codes, []);
}
