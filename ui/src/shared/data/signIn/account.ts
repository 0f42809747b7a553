import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { newCredential } from './passkeys';

export type Session = components['schemas']['SessionRecord'];
export type Passkey = components['schemas']['PasskeyRecord'];

const PASSKEYS = ['account', 'passkeys'];
const SESSIONS = ['account', 'sessions'];

/** Where the person is signed in. */
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

/** Changes the password; the person's other sessions end. */
export function useNewPassword() {
  return useChange(
    (body: components['schemas']['NewPasswordBody']) => unwrap(client.PUT('/api/me/password', { body })),
    [SESSIONS],
  );
}

export function usePasskeys() {
  return useQuery({
    queryKey: PASSKEYS,
    queryFn: async () => (await unwrap(client.GET('/api/me/passkeys'))).results,
  });
}

/** Has the browser make a passkey, and keeps it under a label. */
export function useAddPasskey() {
  return useChange(
    async (label: string) => {
      const { id, options } = await unwrap(client.POST('/api/me/passkeys/options'));
      const credential = await newCredential(options);
      return unwrap(client.POST('/api/me/passkeys', { body: { id, credential, label } }));
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

/** Ten new recovery codes; those before count no more. */
export function useNewRecoveryCodes() {
  return useChange(async () => (await unwrap(client.POST('/api/me/recovery-codes'))).recovery_codes, []);
}
