import { Badge, Tooltip } from '@mantine/core';
import { memo } from 'react';
import { TbTimelineEvent } from 'react-icons/tb';
import { Excerpt } from '@/shared/components/Excerpt';
import { TickBox } from '@/shared/components/TickBox';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { NAMES, sentenceOf } from './DecayMeter';
import { tagsOf } from '../tags';
import { From } from './From';
import classes from './list.module.css';
import type { Row } from './rows';
import { Score } from './Score';

interface MemoryRowProps {
  row: Row;
  view: 'table' | 'timeline';
  /** What was looked for, whose words are marked; "" for nothing. */
  query: string;
  titles: ReadonlyMap<string, string>;
  isSelected: boolean;
  /** The same function each time. */
  onSelect: (id: string) => void;
}

const MOST_SHOWN = 400; // characters: the whole is in the panel
const ROOM = { before: 120, length: MOST_SHOWN };

/** The cells of one memory, which are made once: rows move with every step of the scrolling. */
export const MemoryRow = memo(function MemoryRow(props: MemoryRowProps) {
  const { row, view, query, titles, isSelected, onSelect } = props;
  const { memory, hit } = row;
  return (
    <>
      <div role="gridcell" className={classes.check}>
        <TickBox
          tabIndex={-1}
          checked={isSelected}
          onChange={() => onSelect(memory.id)}
          onClick={event => event.stopPropagation()}
          aria-label={`Select ${memory.memory.slice(0, 80)}`}
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
          <Said text={memory.memory} query={query} />
          <Chips row={row} />
        </div>
      </div>
      <div role="gridcell" className={`${classes.column ?? ''} ${classes.fromCell ?? ''}`}>
        <From memory={memory} titles={titles} />
      </div>
      {view === 'table' && (
        <div role="gridcell" className={classes.column}>
          <Learned memory={memory} />
        </div>
      )}
      {hit && (
        <div role="gridcell" className={classes.scoreCell}>
          <Score hit={hit} />
        </div>
      )}
    </>
  );
});

function Said({ text, query }: { text: string; query: string }) {
  if (query) return <Excerpt text={text} query={query} room={ROOM} mark={word => <mark>{word}</mark>} />;
  return <Words>{text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text}</Words>;
}

const TAGS_SHOWN = 3;

/** Its tags, and what sets it apart from most: facts that are current. */
function Chips({ row: { memory, kind, state = 'current', decaysAt = null } }: { row: Row }) {
  return (
    <>
      {kind === 'message' && (
        <Badge size="sm" variant="default" className={classes.chip}>
          message
        </Badge>
      )}
      {tagsOf(memory)
        .slice(0, TAGS_SHOWN)
        .map(tag => (
          <Badge key={tag} size="sm" variant="light" className={classes.chip} tt="none">
            <Words>{tag}</Words>
          </Badge>
        ))}
      {state !== 'current' && (
        <Tooltip label={sentenceOf(state, decaysAt, memory.expiration_date)}>
          <Badge size="sm" variant="default" className={classes.chip}>
            {NAMES[state]}
          </Badge>
        </Tooltip>
      )}
    </>
  );
}

function Learned({ memory: { created_at, updated_at } }: { memory: Row['memory'] }) {
  return (
    <span>
      <Time value={created_at} ago />
      {updated_at !== created_at && ' · edited'}
    </span>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

function timeOfDay(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : clock.format(date);
}
