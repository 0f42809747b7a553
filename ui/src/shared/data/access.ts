import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { apiKey, keepKey } from '@/shared/api/key';
import type { components } from '@/shared/api/schema';
import { useAbout } from './about';

export type Me = components['schemas']['Me'];
export type Right = keyof Me['may'];

const ME = ['me'];
const ABOUT = ['about'];

/** The caller of a server that needs no key: it may do everything. */
const ANYBODY: Me = {
  tenant: 'default',
  roles: ['admin', 'operator'],
  projects: null,
  user: null,
  key: null,
  may: { read: true, write: true, admin: true, manage: true, server: true },
};

/** What the key in use is for, as the server tells it; not asked without a key. */
export function useOwnKey() {
  const about = useAbout().data;
  return useQuery({
    queryKey: ME,
    queryFn: () => whoCalls(),
    enabled: about?.needs_key === true && apiKey() !== null,
    staleTime: Infinity,
  });
}

/** Who calls. While the server has not told, it is taken for somebody who may do everything. */
export function useMe(): Me {
  return useOwnKey().data ?? ANYBODY;
}

/** What the caller may do. */
export function useMay(): Me['may'] {
  return useMe().may;
}

/** `headers` take the place of those that requests have otherwise. */
function whoCalls(headers: Record<string, string> = {}): Promise<Me> {
  return unwrap(client.GET('/api/me', { headers }));
}

interface Key {
  key: string;
  onDevice: boolean;
}

/** Has the server check a key, and keeps it when the server has taken it. What another caller read is dropped. */
export function useEnterKey(onAccepted: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ key, onDevice }: Key) => {
      const me = await whoCalls({ Authorization: `Bearer ${key}` });
      keepKey(key, onDevice);
      return me;
    },
    onSuccess: me => {
      const before = queries.getQueryData<Me>(ME);
      queries.setQueryData(ME, me);
      void queries.invalidateQueries({ queryKey: ABOUT });
      const others = { predicate: ({ queryKey: [name] }: { queryKey: readonly unknown[] }) => !KEPT.includes(name) };
      if (before && rightsOf(before) === rightsOf(me)) void queries.invalidateQueries(others);
      else void queries.resetQueries(others);
      onAccepted();
    },
  });
}

const KEPT: unknown[] = [...ME, ...ABOUT];

const rightsOf = (me: Me) => JSON.stringify({ ...me, key: null });

/** Drops everything that was read from the server. */
export function useForget() {
  const queries = useQueryClient();
  return () => queries.clear();
}
