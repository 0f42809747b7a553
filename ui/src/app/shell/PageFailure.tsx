import { useRouteError } from 'react-router';
import { ErrorState } from '@/shared/components/states';

/** In place of a page that failed to load or broke; the rest goes on working. */
export function PageFailure() {
  const error = useRouteError();
  return <ErrorState error={error} title="This page failed" onRetry={() => window.location.reload()} />;
}
