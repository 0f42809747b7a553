import { useRef, useState } from 'react';

/**
 * Whether an element was ever pointed at, whose tooltip is made only then: lists have hundreds, each costs more than the
 * words it is about, and few are ever wanted.
 */
export function usePointed<Pointed extends HTMLElement>() {
  const ref = useRef<Pointed>(null);
  const [isPointed, setPointed] = useState(false);
  return { ref, isPointed, onPointerEnter: () => setPointed(true) };
}
