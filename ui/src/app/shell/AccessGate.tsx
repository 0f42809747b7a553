import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useReducer, useRef, useState } from 'react';
import { apiKey, onMissingKey } from '@/shared/api/key';
import { useAbout } from '@/shared/data/about';
import { type Me, rightsOf, useAuth, useCaller, useResume } from '@/shared/data/access';
import classes from './AccessGate.module.css';
import { Waiting } from './Waiting';

const SignInDialog = lazy(async () => ({ default: (await import('@/features/signIn/SignInDialog')).SignInDialog }));

/** Asks to sign in, or for a key, where the server lets not everybody in: at the beginning, and when one was refused. */
export function AccessGate({ children }: { children: ReactNode }) {
  const about = useAbout();
  const auth = useAuth();
  const caller = useCaller();
  const [isRefused, setRefused] = useState(false);
  const [, lookAgain] = useReducer((count: number) => count + 1, 0); // where the key is kept tells nobody of a change
  const page = useRef<HTMLDivElement>(null);
  const left = useRef<Element>(null); // where the focus was when the key was refused
  const visit = useVisit(caller.data);
  const goOn = () => {
    setRefused(false);
    lookAgain();
  };
  const resume = useResume(goOn);
  const onRefusal = useEffectEvent(() => {
    left.current ??= document.activeElement;
    setRefused(true);
    resume().catch(() => undefined); // then it is asked for below
  });
  useEffect(() => onMissingKey(onRefusal), []);
  useEffect(() => {
    if (isRefused || !left.current) return;
    const place = left.current.isConnected ? left.current : page.current?.querySelector('[data-autofocus]');
    if (place instanceof HTMLElement) place.focus();
    left.current = null;
  }, [isRefused]);

  if (about.isPending || auth.isLoading || caller.isLoading) return <Waiting />;
  const isMissing = about.data?.needs_key === true && apiKey() === null && !auth.data?.user;
  return (
    <>
      {(!isMissing || isRefused) && ( // what was typed is still there for whoever signs in again
        <div key={visit} ref={page} className={classes.page} inert={isRefused}>
          {children}
        </div>
      )}
      <Suspense>{(isMissing || isRefused) && <SignInDialog onAccepted={goOn} />}</Suspense>
    </>
  );
}

/** A number that changes when somebody else goes on here: the page then begins anew. */
function useVisit(caller: Me | undefined): number {
  const [last, setLast] = useState({ caller, visit: 0 });
  if (caller && caller !== last.caller) {
    const isOther = last.caller !== undefined && rightsOf(last.caller) !== rightsOf(caller);
    setLast({ caller, visit: last.visit + Number(isOther) });
  }
  return last.visit;
}
