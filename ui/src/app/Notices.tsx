import { type Notifications, notificationsStore } from '@mantine/notifications';
import { useEffect, useState } from 'react';

/** Where notices appear. What draws them comes once somebody acts, or with the first notice, which waits for it. */
export function Notices() {
  const [Shown, setShown] = useState<typeof Notifications | null>(null);
  useEffect(() => {
    if (Shown) return undefined;
    const load = () => void import('./noticesShown').then(module => setShown(() => module.Notifications));
    const acts = ['pointerdown', 'keydown'] as const;
    for (const act of acts) window.addEventListener(act, load, { once: true });
    const leave = notificationsStore.subscribe(load);
    return () => {
      for (const act of acts) window.removeEventListener(act, load);
      leave();
    };
  }, [Shown]);
  return Shown && <Shown position="bottom-right" />;
}
