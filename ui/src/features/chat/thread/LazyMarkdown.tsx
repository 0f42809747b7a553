import { lazy, Suspense } from 'react';
import { Words } from '@/shared/components/Words';

const loaded = import('@/shared/components/Markdown');
const Markdown = lazy(async () => ({ default: (await loaded).Markdown }));

/** Markdown, whose parser comes behind the first load; until then the words as they are. */
export function LazyMarkdown({ children }: { children: string }) {
  return (
    <Suspense fallback={<Words>{children}</Words>}>
      <Markdown>{children}</Markdown>
    </Suspense>
  );
}
