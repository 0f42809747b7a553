import { send } from '@/shared/api/client';

const ANSWERS_WITHIN_MS = 2_000;

/**
 * Notices a server that has gone out of reach while it is waited for. A browser without a network says so at once, where
 * a request may hang; but a server on this machine is there all the same, so it is asked.
 */
export function watchConnection(): { lost: AbortSignal; unwatch: () => void } {
  const controller = new AbortController();
  const look = () => {
    void send('/api/ui', { cache: 'no-store', signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) }).catch(() =>
      controller.abort(),
    );
  };
  window.addEventListener('offline', look);
  return { lost: controller.signal, unwatch: () => window.removeEventListener('offline', look) };
}
