import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { TbArrowLeft, TbColumns2, TbPlayerPlay } from 'react-icons/tb';
import { Link } from 'react-router';
import { EmptyState } from '@/shared/components/states';
import { PageFrame } from '@/shared/components/PageFrame';
import { CompareView } from './compare/CompareView';
import { LiveSwitch } from './list/LiveSwitch';
import { RunFiltersBar } from './list/RunFiltersBar';
import { RunList } from './list/RunList';
import { useRunsState } from './params';
import { RunView } from './run/RunView';
import classes from './RunsPage.module.css';

/** Runs as they happen beside the one that is looked at; in a narrow window one of the two. */
export function RunsPage() {
  const [{ id, node, compare, filters }, change, addressOf] = useRunsState();
  const [isFollowing, setFollowing] = useState(true);
  const [isLive, setLive] = useState(false);
  const [marked, setMarked] = useState<readonly string[]>([]);
  const isNarrowed = Boolean(id || compare);

  const mark = (run: string) =>
    setMarked(marked.includes(run) ? marked.filter(other => other !== run) : [...marked.slice(-1), run]);

  return (
    <PageFrame
      fill
      title="Runs"
      actions={
        <>
          {marked.length === 2 && (
            <Button
              component={Link}
              to={addressOf({ compare: marked.join(','), id: null, node: null })}
              size="xs"
              leftSection={<TbColumns2 aria-hidden />}
            >
              Compare two runs
            </Button>
          )}
          <LiveSwitch isFollowing={isFollowing} isLive={isLive} onChange={setFollowing} />
        </>
      }
      toolbar={<RunFiltersBar filters={filters} onChange={change} hiddenWhenNarrow={isNarrowed} />}
    >
      <div className={classes.panes} data-chosen={isNarrowed || undefined}>
        <section className={classes.list} aria-label="Last runs">
          <RunList
            filters={filters}
            chosen={id}
            marked={marked}
            isFollowing={isFollowing}
            addressOf={addressOf}
            onMark={mark}
            onLive={setLive}
          />
        </section>
        <section className={classes.run} aria-label={compare ? 'Comparison' : 'The run'}>
          {isNarrowed && (
            <Group className={classes.back}>
              <Button
                component={Link}
                to={addressOf({ id: null, node: null, compare: null })}
                variant="subtle"
                size="compact-sm"
                leftSection={<TbArrowLeft aria-hidden />}
              >
                All runs
              </Button>
            </Group>
          )}
          {compare && <CompareView ids={compare} isFollowed={isLive} />}
          {!compare && id && (
            <RunView
              key={id}
              id={id}
              node={node}
              isFollowed={isLive}
              onNode={place => change({ node: String(place) }, true)}
            />
          )}
          {!isNarrowed && (
            <EmptyState
              Icon={TbPlayerPlay}
              title="Select a run"
              hint="See what each node was asked and answered, how long it took and which memories it used. Tick two runs to compare them."
            />
          )}
        </section>
      </div>
    </PageFrame>
  );
}
