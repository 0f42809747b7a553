import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';

/** The request of a run, or of one of its nodes, as a command line. */
export function useRunCommand(id: string, node: number | null, isWanted: boolean) {
  return useQuery({
    queryKey: ['runs', 'command', id, node],
    queryFn: () =>
      unwrap(
        client.GET('/api/runs/{run_id}/curl', {
          params: { path: { run_id: id }, query: node === null ? {} : { node } },
        }),
      ),
    enabled: isWanted,
  });
}
