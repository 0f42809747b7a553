import { Badge, Checkbox } from '@mantine/core';
import { TbTimelineEvent } from 'react-icons/tb';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { ORIGIN_NAMES } from '../detail/reasons';
import { DecayMeter } from './DecayMeter';
import classes from './list.module.css';
import type { Row } from './rows';
import { ScoreBars } from './ScoreBars';

interface MemoryRowProps {
  row: Row;
  view: 'table' | 'timeline';
  most: Readonly<Record<string, number>>;
  isSelected: boolean;
  onSelect: () => void;
}

const MOST_SHOWN = 400; // characters: the whole is in the panel

/** The cells of one memory. */
export function MemoryRow({ row, view, most, isSelected, onSelect }: MemoryRowProps) {
  const { memory, hit } = row;
  const isChanged = memory.updated_at !== memory.created_at;
  const text = memory.memory.length > MOST_SHOWN ? `${memory.memory.slice(0, MOST_SHOWN)}…` : memory.memory;
  return (
    <>
      <div role="gridcell" className={classes.check}>
        <Checkbox
          size="xs"
          tabIndex={-1}
          checked={isSelected}
          onChange={onSelect}
          onClick={event => event.stopPropagation()}
          aria-label={`Select ${text.slice(0, 80)}`}
        />
      </div>
      {view === 'timeline' && (
        <div role="gridcell" className={classes.moment}>
          <TbTimelineEvent size={18} aria-hidden />
          <span>{timeOfDay(row.at)}</span>
        </div>
      )}
      <div role="gridcell" className={classes.text}>
        <div className={classes.clamp}>
          <Words>{text}</Words>
        </div>
        <div className={classes.meta}>
          {row.kind === 'message' && <span>message</span>}
          {memory.origin && memory.origin !== 'user' && memory.origin !== 'api' && (
            <span>{ORIGIN_NAMES[memory.origin].toLowerCase()}</span>
          )}
          <Time value={memory.created_at} ago />
          {isChanged && (
            <span>
              changed <Time value={memory.updated_at} ago />
            </span>
          )}
          {row.state && row.state !== 'current' && <span>{row.state}</span>}
        </div>
      </div>
      {hit ? (
        <div role="gridcell" className={classes.scoreCell}>
          <ScoreBars hit={hit} most={most} />
        </div>
      ) : (
        <Columns row={row} view={view} />
      )}
    </>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

function timeOfDay(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : clock.format(date);
}

function Columns({ row, view }: { row: Row; view: 'table' | 'timeline' }) {
  const { memory, state, decaysAt = null } = row;
  return (
    <>
      <div role="gridcell" className={classes.column}>
        <Badge size="sm" variant="default" tt="none" fw={500}>
          {row.kind}
        </Badge>
      </div>
      {view === 'table' && (
        <div role="gridcell" className={classes.column}>
          <Time value={memory.created_at} ago />
        </div>
      )}
      <div role="gridcell" className={classes.column}>
        {memory.updated_at === memory.created_at ? '' : <Time value={memory.updated_at} ago />}
      </div>
      <div role="gridcell" className={classes.column}>
        {state && (
          <DecayMeter
            state={state}
            renewedAt={memory.updated_at}
            decaysAt={decaysAt}
            expiresOn={memory.expiration_date}
          />
        )}
      </div>
    </>
  );
}
