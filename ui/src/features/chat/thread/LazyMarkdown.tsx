import { lazy, Suspense } from 'react';
import { Words } from '@/shared/components/Words';

/** Fetches the parser, so that it is there when the first words come. */
export const loadMarkdown = () => import('@/shared/components/markdown/Markdown');

const Markdown = lazy(async () => ({ default: (await loadMarkdown()).Markdown }));

/** Markdown, whose parser is no part of the first load; until it is there the words as they are. */
export function LazyMarkdown({ children }: { children: string }) {
  return (
    <Suspense fallback={<Words>{children}</Words>}>
      <Markdown>{children}</Markdown>
    </Suspense>
  );
}
