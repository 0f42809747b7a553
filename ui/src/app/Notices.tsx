import { type Notifications, notificationsStore } from '@mantine/notifications';
import { useEffect, useState } from 'react';

const QUIET_MS = 3000;

/** Where notices appear. What draws them comes once the page is quiet, or with the first notice, which waits for it. */
export function Notices() {
  const [Shown, setShown] = useState<typeof Notifications | null>(null);
  useEffect(() => {
    if (Shown) return undefined;
    const load = () =>
      void import('./noticesShown').then(
        module => setShown(() => module.Notifications),
        () => undefined, // the server is gone: the next notice tries again
      );
    const quiet = setTimeout(load, QUIET_MS); // a server that is gone by the first notice has none to give
    const leave = notificationsStore.subscribe(load);
    return () => {
      clearTimeout(quiet);
      leave();
    };
  }, [Shown]);
  return Shown && <Shown position="bottom-right" />;
}
