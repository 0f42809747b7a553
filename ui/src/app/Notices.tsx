import type { Notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';

const SOON_MS = 500; // the page itself goes first

/** Where notices appear. What draws them comes behind the page; those that were given before wait for it. */
export function Notices() {
  const [Shown, setShown] = useState<typeof Notifications | null>(null);
  useEffect(() => {
    const waiting = setTimeout(() => {
      void import('./noticesShown').then(module => setShown(() => module.Notifications));
    }, SOON_MS);
    return () => clearTimeout(waiting);
  }, []);
  return Shown && <Shown position="bottom-right" />;
}
