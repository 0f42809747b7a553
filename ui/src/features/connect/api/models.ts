import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';

const ANY = 'mnemoir';

/** The model that a client may name: the first one the server lists. */
export function useModelName(): string {
  const models = useQuery({
    queryKey: ['models', 'first'],
    queryFn: () => unwrap(client.GET('/v1/models')),
    staleTime: 60_000,
  });
  return models.data?.data[0]?.id ?? ANY;
}
