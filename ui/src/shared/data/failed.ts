import { useQueryClient } from '@tanstack/react-query';

/** Asks again for all on the page that has nothing to show because it failed; what is on its way is waited for. */
export function useRetryFailed(): () => void {
  const queries = useQueryClient();
  return () =>
    void queries.refetchQueries(
      { type: 'active', predicate: ({ state }) => state.status === 'error' && state.data === undefined },
      { cancelRefetch: false },
    );
}
