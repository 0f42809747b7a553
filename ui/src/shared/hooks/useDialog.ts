import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/**
 * Which of some dialogs is open, null for none. When it is closed, the focus is again on what opened it; name that in
 * `open` where it is not what has the focus, as an entry of a menu that is gone then.
 */
export function useDialog<Name extends string>() {
  const [shown, setShown] = useState<Name | null>(null);
  const opener = useRef<HTMLElement | null>(null);
  const open = (name: Name, by: HTMLElement | null = focused()) => {
    opener.current = by;
    setShown(name);
  };
  const close = () => {
    flushSync(() => setShown(null)); // a dialog that is there keeps the focus in it
    opener.current?.focus();
  };
  return { shown, open, close };
}

function focused(): HTMLElement | null {
  return document.activeElement instanceof HTMLElement ? document.activeElement : null;
}
