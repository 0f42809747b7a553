import { TbPlayerPlay } from 'react-icons/tb';
import { ApiError } from '@/shared/api/errors';
import { EmptyState } from '@/shared/components/states';

/** In place of a run that is no more. */
export function RunGone({ title }: { title: string }) {
  return (
    <EmptyState
      Icon={TbPlayerPlay}
      title={title}
      hint="Only recent runs are kept, and a user's runs are deleted with their memories."
    />
  );
}

export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'run_not_found';
}
