import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { client, isBySession, unwrap } from '@/shared/api/client';
import { apiKey, dropKey, keepKey } from '@/shared/api/key';
import type { components } from '@/shared/api/schema';
import { keepSession, sessionToken } from '@/shared/api/session';
import { useAbout } from './about';

export type Me = components['schemas']['Me'];
export type Right = keyof Me['may'];
export type Auth = components['schemas']['Auth'];

const ME = ['me'];
const ABOUT = ['about'];
const AUTH = ['auth'];

/** The caller of a server that needs no key: it may do everything. */
const ANYBODY: Me = {
  tenant: 'default',
  roles: ['admin', 'operator'],
  projects: null,
  user: null,
  configs: null,
  key: null,
  name: null,
  signed_in: false,
  may: { read: true, write: true, admin: true, manage: true, server: true },
};

/** Who signed in here, and which ways there are to do so. Where everybody is let in, it is asked only if it `isWanted`. */
export function useAuth(isWanted = false) {
  const needsKey = useAbout().data?.needs_key === true;
  return useQuery({
    queryKey: AUTH,
    queryFn: async () => {
      const auth = await unwrap(client.GET('/api/auth'));
      keepSession(auth.csrf);
      return auth;
    },
    enabled: isWanted || needsKey,
    staleTime: Infinity,
  });
}

/** What the key or the person is for, as the server tells it; not asked without either. */
export function useCaller() {
  const about = useAbout().data;
  const auth = useAuth().data;
  return useQuery({
    queryKey: ME,
    queryFn: () => whoCalls(),
    enabled: about?.needs_key === true && (apiKey() !== null || auth?.user != null),
    staleTime: Infinity,
  });
}

/** Who calls. While the server has not told, it is taken for somebody who may do everything. */
export function useMe(): Me {
  return useCaller().data ?? ANYBODY;
}

const ReadOnly = createContext(false);
/** Whether what is shown below it is for looking alone, whatever the caller may do otherwise. */
export const ReadOnlyPart = ReadOnly.Provider;

/** What the caller may do here. */
export function useMay(): Me['may'] {
  const { may } = useMe();
  return useContext(ReadOnly) ? { ...may, write: false, admin: false } : may;
}

/** `headers` take the place of those that requests have otherwise. */
function whoCalls(headers: Record<string, string> = {}): Promise<Me> {
  return unwrap(client.GET('/api/me', { headers }));
}

interface Key {
  key: string;
  onDevice: boolean;
}

/** Has the server check a key, and keeps it when the server has taken it. */
export function useEnterKey(onAccepted: () => void) {
  const take = useTakeCaller();
  return useMutation({
    mutationFn: async ({ key, onDevice }: Key) => {
      const me = await whoCalls({ Authorization: `Bearer ${key}` });
      keepKey(key, onDevice);
      return me;
    },
    onSuccess: me => {
      take(me);
      onAccepted();
    },
  });
}

/** Signs in by `enter`, which tells the token of the new session. A key that was in use is forgotten. */
export function useEnter<Given = void>(enter: (given: Given) => Promise<{ csrf: string }>, onAccepted: () => void) {
  const queries = useQueryClient();
  const take = useTakeCaller();
  return useMutation({
    mutationFn: async (given: Given) => {
      const { csrf } = await enter(given);
      dropKey();
      keepSession(csrf);
      await queries.invalidateQueries({ queryKey: AUTH });
      return whoCalls();
    },
    onSuccess: me => {
      take(me);
      onAccepted();
    },
  });
}

/** Looks, when a request was refused, whether another tab has signed in meanwhile, and then goes on by that session. */
export function useResume(onAccepted: () => void) {
  const queries = useQueryClient();
  const take = useTakeCaller();
  return async () => {
    const before = sessionToken();
    await queries.invalidateQueries({ queryKey: AUTH });
    if (!isBySession() || sessionToken() === before) return;
    take(await whoCalls());
    onAccepted();
  };
}

/** Goes on as this caller. What another one read is dropped. */
function useTakeCaller() {
  const queries = useQueryClient();
  return (me: Me) => {
    const before = queries.getQueryData<Me>(ME);
    queries.setQueryData(ME, me);
    void queries.invalidateQueries({ queryKey: ABOUT });
    const others = { predicate: ({ queryKey: [name] }: { queryKey: readonly unknown[] }) => !KEPT.includes(name) };
    if (before && rightsOf(before) === rightsOf(me)) void queries.invalidateQueries(others);
    else void queries.resetQueries(others);
  };
}

const KEPT: unknown[] = [...ME, ...ABOUT, ...AUTH];

/** Tells callers apart; keys that may do the same are one. */
export const rightsOf = (me: Me) => JSON.stringify({ ...me, key: null });

/** Drops everything that was read from the server. */
export function useForget() {
  const queries = useQueryClient();
  return () => queries.clear();
}
