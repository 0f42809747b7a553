import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { dropKey, keepSession } from '@/shared/api/key';
import type { components } from '@/shared/api/schema';
import { useAbout } from '../about';
import { newCredential, presented } from './passkeys';

export type Auth = components['schemas']['Auth'];
export type Person = components['schemas']['Person'];
export type Invitation = components['schemas']['InvitationAnswer'];
type SignedIn = components['schemas']['SignedInAnswer'];

const AUTH = ['auth'];

/** Who signed in, and how one can; asked where the server lets nobody in who is unknown. */
export function useAuth() {
  const needsKey = useAbout().data?.needs_key === true;
  return useQuery({ queryKey: AUTH, queryFn: askedNow, enabled: needsKey, staleTime: Infinity });
}

async function askedNow(): Promise<Auth> {
  const auth = await unwrap(client.GET('/api/auth'));
  keepSession(auth.csrf);
  return auth;
}

export type Way =
  | { way: 'password'; name: string; password: string }
  | { way: 'recovery'; name: string; code: string }
  | { way: 'passkey' };

/** Signs in. What another caller read is dropped. */
export function useSignIn(onAccepted: () => void) {
  const began = useBegun();
  return useMutation({
    mutationFn: signedIn,
    onSuccess: answer => {
      began(answer);
      onAccepted();
    },
  });
}

async function signedIn(given: Way): Promise<SignedIn> {
  if (given.way === 'password') {
    const { name, password } = given;
    return unwrap(client.POST('/api/auth/password', { body: { name, password } }));
  }
  if (given.way === 'recovery') {
    const { name, code } = given;
    return unwrap(client.POST('/api/auth/recovery', { body: { name, code } }));
  }
  const { id, options } = await unwrap(client.POST('/api/auth/passkey/options'));
  const credential = await presented(options);
  return unwrap(client.POST('/api/auth/passkey', { body: { id, credential } }));
}

/** Makes the page that of the person who signed in. */
function useBegun() {
  const queries = useQueryClient();
  return ({ user, csrf }: SignedIn) => {
    dropKey();
    keepSession(csrf);
    queries.setQueryData<Auth>(AUTH, before => before && { ...before, user, csrf });
    const others = { predicate: ({ queryKey: [name] }: { queryKey: readonly unknown[] }) => name !== AUTH[0] };
    void queries.resetQueries(others);
  };
}

/** Ends the session. The page begins anew: nothing of what was read stays in it. */
export function useSignOut() {
  return useMutation({
    mutationFn: () => unwrap(client.POST('/api/auth/sign-out')),
    onSuccess: () => window.location.reload(),
  });
}

/** What an invitation is for. */
export function useInvitation(token: string) {
  return useQuery({
    queryKey: ['invitation', token],
    queryFn: () => unwrap(client.POST('/api/auth/invitation', { body: { token } })),
    enabled: token !== '',
    staleTime: Infinity,
    retry: false,
  });
}

export interface Joining {
  token: string;
  name: string;
  /** null for a passkey, which the browser then makes. */
  password: string | null;
}

/** Takes an invitation; the answer has the recovery codes, which nobody can read again. */
export function useJoin() {
  return useMutation({
    mutationFn: async ({ token, name, password }: Joining) => {
      const joined = await unwrap(
        client.POST('/api/auth/join', {
          body: { token, name, ...(password === null ? { passkey: await madeFor(token, name) } : { password }) },
        }),
      );
      dropKey();
      keepSession(joined.csrf);
      return joined;
    },
  });
}

async function madeFor(token: string, name: string) {
  const { id, options } = await unwrap(client.POST('/api/auth/join/passkey/options', { body: { token, name } }));
  return { id, credential: await newCredential(options) };
}

/** Has the server print a one-time code in its terminal, which is the invitation of the first admin. */
export function useFirstCode() {
  return useMutation({ mutationFn: () => unwrap(client.POST('/api/auth/first-code')) });
}

/** The clients that called without a key in the last 7 days, latest first. */
export function useKeylessClients() {
  return useQuery({
    queryKey: ['keyless clients'],
    queryFn: async () => (await unwrap(client.GET('/api/auth/clients'))).results,
  });
}
