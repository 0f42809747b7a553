import { useMutation, useQueryClient } from '@tanstack/react-query';
import { dropKey, keepKey } from '@/shared/api/key';
import { modelNames } from './models';

interface Key {
  key: string;
  onDevice: boolean;
}

/** Has the server check a key, and keeps it when the server has taken it. */
export function useEnterKey(onAccepted: () => void) {
  return useMutation({
    mutationFn: async ({ key, onDevice }: Key) => {
      dropKey();
      await modelNames({ Authorization: `Bearer ${key}` });
      keepKey(key, onDevice);
    },
    onSuccess: onAccepted,
  });
}

/** Everything that was read from the server, when another key is used. */
export function useEverything() {
  const queries = useQueryClient();
  return { askAgain: () => void queries.invalidateQueries(), forget: () => queries.clear() };
}
