import { useSyncExternalStore } from 'react';

const CHANGED = 'settingsChanged';

/**
 * A text in local storage, the same in all open panes and tabs. `event` is dispatched on the window beside our own.
 */
export function storedText(name: string, event?: string) {
  const read = () => localStorage.getItem(name);

  const write = (value: string | null) => {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
    window.dispatchEvent(new Event(CHANGED));
    if (event) window.dispatchEvent(new Event(event));
  };

  const subscribe = (notify: () => void) => {
    const events = ['storage', CHANGED, ...(event ? [event] : [])];
    for (const each of events) window.addEventListener(each, notify);
    return () => {
      for (const each of events) window.removeEventListener(each, notify);
    };
  };

  return { read, write, use: () => useSyncExternalStore(subscribe, read) };
}
