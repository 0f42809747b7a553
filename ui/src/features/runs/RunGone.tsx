import { ApiError } from '@/shared/api/errors';
import { EmptyState } from '@/shared/components/states';

/** In place of a run that is no more. */
export function RunGone({ title }: { title: string }) {
  return (
    <EmptyState
      title={title}
      hint="Only the last runs are kept, and those of a user are deleted with the memories."
    />
  );
}

export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'run_not_found';
}
