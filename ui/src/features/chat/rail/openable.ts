import { useSyncExternalStore } from 'react';

/** Something that is open or not, the same for all who ask: a button here opens a drawer there. */
export function openable() {
  let isOpen = false;
  const listeners = new Set<() => void>();
  const set = (value: boolean) => {
    isOpen = value;
    for (const notify of listeners) notify();
  };
  const subscribe = (notify: () => void) => {
    listeners.add(notify);
    return () => {
      listeners.delete(notify);
    };
  };
  return {
    open: () => set(true),
    close: () => set(false),
    toggle: () => set(!isOpen),
    use: () => useSyncExternalStore(subscribe, () => isOpen),
  };
}

/** The rail where it has no place of its own. */
export const railDrawer = openable();
