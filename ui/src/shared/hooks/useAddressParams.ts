import { useCallback } from 'react';
import { useNavigate, useSearchParams } from 'react-router';

/** What is put into the parameters of an address, by name; null and "" take a parameter away. */
export type ParamChanges = Readonly<Record<string, string | null | undefined>>;

interface How {
  /** Back does not stop at what was before. */
  replace?: boolean;
}

/**
 * The parameters of the address, and what changes some of them. A change begins with what the address says then, which
 * the page may not have followed yet: one that comes right behind another loses nothing of it.
 */
export function useAddressParams() {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const change = useCallback(
    (changes: ParamChanges, how?: How) => {
      void navigate(`?${changed(new URLSearchParams(window.location.search), changes).toString()}`, how);
    },
    [navigate],
  );
  return { params, change };
}

/** A copy of the parameters with the changes; a name that is not among these stays, as does an undefined one. */
export function changed(params: URLSearchParams, changes: ParamChanges): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else if (value !== undefined) next.delete(name);
  }
  return next;
}
