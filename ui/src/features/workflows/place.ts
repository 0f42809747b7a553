import { useCallback } from 'react';
import { useAddressParams } from '@/shared/hooks/useAddressParams';

/** What the page shows: all of it is in the address. */
export interface Place {
  /** Path of the file; "" for the first that makes sense. */
  file: string;
  /** Whose folders names are looked up in; "" for whoever the workflow belongs to. */
  user: string;
  /** The place in the file, like `$[0].prompt`. */
  at: string;
  view: string;
}

const NAMES = ['file', 'user', 'at', 'view'] as const;

export function usePlace() {
  const { params, change } = useAddressParams();
  const place = Object.fromEntries(NAMES.map(name => [name, params.get(name) ?? ''])) as unknown as Place;
  /** `replace` for moves within a file, which Back does not go through one by one. */
  const go = useCallback(
    (changes: Partial<Place>, how?: { replace?: boolean }) => change({ ...changes }, how),
    [change],
  );
  return { place, go };
}

/** The address of a file, for links. */
export function addressOf(file: string, at = '', user = ''): string {
  const params = new URLSearchParams({ file, ...(user && { user }), ...(at && { at }) });
  return `/workflows?${params.toString()}`;
}
