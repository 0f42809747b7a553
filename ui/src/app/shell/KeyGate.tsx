import { lazy, type ReactNode, Suspense, useEffect, useReducer, useRef, useState } from 'react';
import { apiKey, onMissingKey } from '@/shared/api/key';
import { useAbout } from '@/shared/data/about';
import { useOwnKey } from '@/shared/data/access';
import classes from './KeyGate.module.css';
import { Waiting } from './Waiting';

const KeyDialog = lazy(async () => ({ default: (await import('./KeyDialog')).KeyDialog }));

/** Asks for the API key where the server wants one, at the beginning and when a key was refused; then who it is for. */
export function KeyGate({ children }: { children: ReactNode }) {
  const about = useAbout();
  const [isRefused, setRefused] = useState(false);
  const [, lookAgain] = useReducer((count: number) => count + 1, 0); // where the key is kept tells nobody of a change
  const ownKey = useOwnKey();
  const page = useRef<HTMLDivElement>(null);
  const left = useRef<Element>(null); // where the focus was when the key was refused
  useEffect(
    () =>
      onMissingKey(() => {
        left.current ??= document.activeElement;
        setRefused(true);
      }),
    [],
  );
  useEffect(() => {
    if (isRefused || !left.current) return;
    const place = left.current.isConnected ? left.current : page.current?.querySelector('[data-autofocus]');
    if (place instanceof HTMLElement) place.focus();
    left.current = null;
  }, [isRefused]);

  if (about.isPending || ownKey.isLoading) return <Waiting />;
  const isMissing = about.data?.needs_key === true && apiKey() === null;
  const goOn = () => {
    setRefused(false);
    lookAgain();
  };
  return (
    <>
      {!isMissing && (
        <div ref={page} className={classes.page} inert={isRefused}>
          {children}
        </div>
      )}
      <Suspense>{(isMissing || isRefused) && <KeyDialog onAccepted={goOn} />}</Suspense>
    </>
  );
}
