import type { InfiniteData } from '@tanstack/react-query';
import { useMemo } from 'react';

interface Page<Item> {
  results: Item[];
}

/** The items of all loaded pages; the same array as long as the pages are the same. */
export function useResults<Item>(data: InfiniteData<Page<Item>> | undefined): Item[] {
  return useMemo(() => data?.pages.flatMap(page => page.results) ?? [], [data]);
}

/** The pages with each item as `change` makes it. */
export function withEach<Item, Data extends InfiniteData<Page<Item>>>(
  data: Data,
  change: (item: Item) => Item,
): Data {
  return { ...data, pages: data.pages.map(page => ({ ...page, results: page.results.map(change) })) };
}
