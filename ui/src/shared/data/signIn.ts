import { useMutation, useQuery } from '@tanstack/react-query';
import { client, serverUrl, unwrap } from '@/shared/api/client';
import { dropKey } from '@/shared/api/key';
import type { components } from '@/shared/api/schema';
import { keepSession } from '@/shared/api/session';
import { useEnter } from './access';
import { makePasskey, signWithPasskey } from './passkeys';

export type Invitation = components['schemas']['InvitationAnswer'];
export type Joined = components['schemas']['Joined'];

/** Signs in by name and password. */
export function useSignIn(onAccepted: () => void) {
  return useEnter(
    (body: { name: string; password: string }) => unwrap(client.POST('/api/auth/password', { body })),
    onAccepted,
  );
}

/** Signs in by name and a recovery code, which is then used up. */
export function useRecover(onAccepted: () => void) {
  return useEnter(
    (body: { name: string; code: string }) => unwrap(client.POST('/api/auth/recovery', { body })),
    onAccepted,
  );
}

/** Signs in by a passkey of this device or browser, which knows whose it is. */
export function usePasskey(onAccepted: () => void) {
  return useEnter(byPasskey, onAccepted);
}

async function byPasskey() {
  return unwrap(client.POST('/api/auth/passkey', { body: await signedByPasskey() }));
}

/** A question of the server's, signed by a passkey of this device or browser. */
export async function signedByPasskey() {
  return signWithPasskey(await unwrap(client.POST('/api/auth/passkey/options')));
}

/** The address at which an identity provider is asked, to come back to the page of now. */
export function addressOfIssuer(id: string): string {
  const to = window.location.pathname + window.location.search;
  return `${serverUrl}/api/auth/oidc/${encodeURIComponent(id)}/start?to=${encodeURIComponent(to)}`;
}

interface Providing {
  id: string;
  token: string;
}

/** Leaves for an identity provider, to come back as whom the invitation with that token makes. */
export function useJoinWithIssuer() {
  return useMutation({
    mutationFn: async ({ id, token }: Providing) => {
      const params = { path: { provider: id } };
      const body = { to: new URL(`${serverUrl}/`).pathname, invitation: token };
      return (await unwrap(client.POST('/api/auth/oidc/{provider}/start', { params, body }))).url;
    },
    onSuccess: url => window.location.assign(url),
  });
}

/** Ends the session of this browser, and begins anew without anything that was read. */
export function useSignOut() {
  return useMutation({
    mutationFn: () => unwrap(client.POST('/api/auth/sign-out')),
    onSuccess: () => window.location.assign(`${serverUrl}/`),
  });
}

const invitationOf = (token: string) => unwrap(client.POST('/api/auth/invitation', { body: { token } }));

/** What an invitation is for. */
export function useInvitation(token: string) {
  return useQuery({
    queryKey: ['invitation', token],
    queryFn: () => invitationOf(token),
    enabled: token !== '',
    staleTime: Infinity,
    refetchOnWindowFocus: false, // tries are counted
  });
}

interface Joining {
  token: string;
  name: string;
  /** null for a passkey. */
  password: string | null;
}

/** Becomes a user by an invitation; this browser is signed in then. */
export function useJoin() {
  return useMutation({
    mutationFn: async ({ token, name, password }: Joining) => {
      const shown = password === null ? { passkey: await newPasskey(token, name) } : { password };
      const joined = await unwrap(client.POST('/api/auth/join', { body: { token, name, ...shown } }));
      dropKey();
      keepSession(joined.csrf);
      return joined;
    },
  });
}

async function newPasskey(token: string, name: string) {
  return makePasskey(await unwrap(client.POST('/api/auth/join/passkey/options', { body: { token, name } })));
}

/** Has the server print a code for the first admin in its terminal; it is the token of an invitation. */
export function usePrintCode() {
  return useMutation({ mutationFn: () => unwrap(client.POST('/api/auth/first-code')) });
}

/** Asks whether a code is that of the terminal. A wrong one counts as a try. */
export function useCheckCode() {
  return useMutation({ mutationFn: invitationOf });
}
