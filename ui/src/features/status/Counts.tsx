import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import type { Status } from '@/shared/data/status';
import { counted } from './format';
import classes from './Status.module.css';

/** How much there is of everybody; what has a page leads to it. */
export function Counts({ counts }: { counts: Status['counts'] }) {
  const shown: [string, number | null, string?][] = [
    ['Projects', counts.projects],
    ['Users', counts.users],
    ['Memories', counts.memories, '/memories'],
    ['Conversations', counts.conversations, '/conversations'],
    ['Messages', counts.messages],
    ['Runs', counts.runs, '/runs'],
  ];
  return (
    <dl className={classes.counts} aria-label="Counts">
      {shown.map(([name, count, page]) => (
        <div key={name} className={classes.count}>
          <dt>
            {page ? (
              <Anchor component={Link} to={page} inherit>
                {name}
              </Anchor>
            ) : (
              name
            )}
          </dt>
          <dd>{counted(count)}</dd>
        </div>
      ))}
    </dl>
  );
}
