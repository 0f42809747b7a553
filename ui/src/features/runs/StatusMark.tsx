import { TbBan, TbCircleCheck, TbCircleX, TbLoader2 } from 'react-icons/tb';
import type { RunStatus } from '@/shared/data/runs/runs';
import classes from './StatusMark.module.css';

const MARKS = {
  running: { icon: TbLoader2, label: 'Running' },
  finished: { icon: TbCircleCheck, label: 'Finished' },
  failed: { icon: TbCircleX, label: 'Failed' },
  cancelled: { icon: TbBan, label: 'Cancelled' },
} as const satisfies Record<RunStatus, unknown>;

/** How a run stands: an icon with its name, beside it in words where there is room. */
export function StatusMark({ status, words = false }: { status: RunStatus; words?: boolean }) {
  const { icon: Icon, label } = MARKS[status];
  return (
    <span className={classes.mark} data-status={status} title={label}>
      <Icon size={18} aria-hidden />
      <span className={words ? undefined : classes.unseen}>{label}</span>
    </span>
  );
}
