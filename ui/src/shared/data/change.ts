import { type QueryKey, useMutation, type UseMutationOptions, useQueryClient } from '@tanstack/react-query';

/** What else happens at a change; `onSuccess` comes before anything is asked for again. */
export type More<Data, Given> = Pick<UseMutationOptions<Data, Error, Given>, 'onMutate' | 'onSuccess' | 'onError'>;

/** A change on the server. Whatever comes of it, everything that is kept below the `stale` keys is asked for again. */
export function useChange<Data, Given = void>(
  change: (given: Given) => Promise<Data>,
  stale: readonly QueryKey[],
  more: More<Data, Given> = {},
) {
  const queries = useQueryClient();
  return useMutation({
    ...more,
    mutationFn: change,
    onSettled: () => Promise.all(stale.map(queryKey => queries.invalidateQueries({ queryKey }))),
  });
}
