import { useEffect, useRef, useState } from 'react';
import { type Attached, attached, detach } from './pictures';

/** The pictures that go with the next message. */
export function useAttached() {
  const [pictures, setPictures] = useState<Attached[]>([]);
  const latest = useRef(pictures);
  useEffect(() => {
    latest.current = pictures;
  }, [pictures]);
  useEffect(() => () => detach(latest.current), []);
  return {
    pictures,
    /** Adds those that are pictures; whether there was one. */
    add: (files: Iterable<File>): boolean => {
      const found = attached(files);
      setPictures(known => [...known, ...found]);
      return found.length > 0;
    },
    remove: (picture: Attached) => {
      detach([picture]);
      setPictures(known => known.filter(other => other !== picture));
    },
    clear: () => {
      detach(pictures);
      setPictures([]);
    },
  };
}

export type AttachedPictures = ReturnType<typeof useAttached>;
