import { lazy, Suspense } from 'react';
import { LoadingState } from '@/shared/components/states';

const MemoryPanel = lazy(async () => ({ default: (await import('./MemoryPanel')).MemoryPanel }));

export const TITLE = 'Project Long Term Memory';

/** The panel of memories, loaded when it is shown. */
export function LazyMemoryPanel() {
  return (
    <Suspense fallback={<LoadingState />}>
      <MemoryPanel />
    </Suspense>
  );
}
