import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { STATUS } from './status';

/** Has the server ask the models' servers now. */
export function useCheck() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(client.POST('/api/status/check')),
    onSuccess: status => queries.setQueryData(STATUS, status),
  });
}
