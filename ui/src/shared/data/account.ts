import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from './change';
import { makePasskey } from './passkeys';

export type PasskeyRecord = components['schemas']['PasskeyRecord'];
export type SessionRecord = components['schemas']['SessionRecord'];

const PASSKEYS = ['account', 'passkeys'];
const SESSIONS = ['account', 'sessions'];

/** `old` is "" where there was none. Other sessions end. */
export function useChangePassword() {
  return useChange(
    (body: { old: string; new: string }) => unwrap(client.PUT('/api/me/password', { body })),
    [SESSIONS],
  );
}

export function usePasskeys() {
  return useQuery({
    queryKey: PASSKEYS,
    queryFn: async () => (await unwrap(client.GET('/api/me/passkeys'))).results,
  });
}

/** Has this browser make a passkey, and keeps it below a label. */
export function useAddPasskey() {
  return useChange(
    async (label: string) => {
      const answer = await makePasskey(await unwrap(client.POST('/api/me/passkeys/options')));
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
export function useNewRecoveryCodes() {
  return useChange(async () => (await unwrap(client.POST('/api/me/recovery-codes'))).recovery_codes, []);
}
