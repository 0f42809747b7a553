/** More items at one end of those that are loaded. */
export interface Further {
  state: 'none' | 'more' | 'loading' | 'failed';
  load: () => void;
}

export const NOTHING_FURTHER: Further = { state: 'none', load: () => undefined };

export function furtherOf(isThere: boolean, isLoading: boolean, hasFailed: boolean): Further['state'] {
  if (!isThere) return 'none';
  if (isLoading) return 'loading';
  return hasFailed ? 'failed' : 'more';
}

/** A query of pages, of which the first holds the oldest items. */
interface Paged {
  hasPreviousPage: boolean;
  isFetchingPreviousPage: boolean;
  isFetchPreviousPageError: boolean;
  fetchPreviousPage: () => unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => unknown;
}

/** What there is further at both ends of the pages. */
export function endsOf(pages: Paged): { older: Further; newer: Further } {
  return {
    older: {
      state: furtherOf(pages.hasPreviousPage, pages.isFetchingPreviousPage, pages.isFetchPreviousPageError),
      load: () => void pages.fetchPreviousPage(),
    },
    newer: {
      state: furtherOf(pages.hasNextPage, pages.isFetchingNextPage, pages.isFetchNextPageError),
      load: () => void pages.fetchNextPage(),
    },
  };
}
