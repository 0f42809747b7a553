import { useRouteError } from 'react-router';
import { ErrorState } from '@/shared/components/states';

// how browsers, and what loads parts of pages for us, say that one did not come
const NOT_LOADED = /dynamically imported module|importing a module|unable to preload/i;

/** In place of a page that failed to load or broke; the rest goes on working. */
export function PageFailure() {
  const error = useRouteError();
  const isNotLoaded = error instanceof Error && NOT_LOADED.test(error.message);
  return (
    <ErrorState
      error={isNotLoaded ? 'The server cannot be reached, or it was updated since this tab was opened.' : error}
      title={isNotLoaded ? 'This page could not be loaded' : 'This page failed'}
      onRetry={() => window.location.reload()}
    />
  );
}
