import { useRef, useState } from 'react';

/**
 * Whether an element was ever pointed at, for so many milliseconds. Its tooltip, opened, is made only then: lists have
 * hundreds, each costs more than the words it is about, and few are ever wanted.
 */
export function usePointed<Pointed extends HTMLElement>(delay: number) {
  const ref = useRef<Pointed>(null);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [isPointed, setPointed] = useState(false);
  return {
    ref,
    isPointed,
    onPointerEnter: () => {
      waiting.current = setTimeout(() => setPointed(true), delay);
    },
    onPointerLeave: () => clearTimeout(waiting.current),
  };
}
