import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { TbFilterOff, TbMap2, TbTimelineEvent } from 'react-icons/tb';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useMay } from '@/shared/data/access';
import type { Scope } from '@/shared/data/scope';
import { type MemoriesMap, useMemoryMap } from '@/shared/data/memories/map';
import { BatchActions } from '../list/BatchActions';
import { ShowAll } from '../list/ShowAll';
import type { ListParts } from '../list/Shown';
import { useSelection } from '../list/useSelection';
import { conditionsOf, isNarrowed, type Place } from '../place';
import { ViewSwitch } from '../toolbar/ViewSwitch';
import { MapPicture, type Tool } from './MapPicture';
import classes from './map.module.css';

const MOST_PLACED = 5000;

/** The memories as points in groups: looked at, drawn around, and then dealt with together. */
export default function MapView({ place, owner, onOpen, onView, onDelete }: ListParts) {
  const [now] = useState(() => Date.now());
  const map = useMemoryMap(owner, conditionsOf(place, now));
  const [tool, setTool] = useState<Tool>('move');
  const points = useMemo(() => map.data?.points ?? [], [map.data]);
  const selection = useSelection(useMemo(() => points.map(({ id }) => id), [points]));
  if (map.isPending) return <LoadingState label="Loading the map" />;
  if (map.isError) return <ErrorState error={map.error} onRetry={() => void map.refetch()} />;
  const remove = () => {
    onDelete([...selection.ids]);
    selection.set([]);
  };
  return (
    <>
      <Group className={classes.summary} gap="xs">
        {selection.ids.size === 0 ? (
          <Text size="xs" c="dimmed" role="status">
            {inWords(map.data)}
          </Text>
        ) : (
          <Selected owner={owner} ids={[...selection.ids]} onForget={remove} onNone={() => selection.set([])} />
        )}
        <ViewSwitch view={place.view} onChange={onView} />
      </Group>
      {points.length === 0 ? (
        <Nothing map={map.data} place={place} />
      ) : (
        <MapPicture
          map={map.data}
          tool={tool}
          selection={selection}
          openId={place.id}
          onOpen={onOpen}
          tools={
            <SegmentedControl
              size="xs"
              aria-label="What dragging does"
              value={tool}
              onChange={setTool}
              data={[
                { value: 'move', label: 'Move' },
                { value: 'lasso', label: 'Lasso' },
              ]}
            />
          }
        />
      )}
    </>
  );
}

interface SelectedProps {
  owner: Scope;
  ids: string[];
  onForget: () => void;
  onNone: () => void;
}

function Selected({ owner, ids, onForget, onNone }: SelectedProps) {
  const mayWrite = useMay().write;
  return (
    <>
      <Text size="xs" fw={600} role="status">
        {ids.length} selected
      </Text>
      {mayWrite && (
        <>
          <Button size="compact-xs" variant="default" onClick={onForget}>
            Forget
          </Button>
          <BatchActions owner={owner} memories={ids.map(id => ({ id, metadata: null }))} onDone={onNone} />
        </>
      )}
      <Button size="compact-xs" variant="subtle" onClick={onNone}>
        Select none
      </Button>
    </>
  );
}

function Nothing({ map, place }: { map: MemoriesMap; place: Place }) {
  if (map.total === 0 && (isNarrowed(place) || place.q))
    return (
      <EmptyState Icon={TbFilterOff} title="No matches" hint="No memory matches all filters.">
        <ShowAll place={{ user: place.user, project: place.project, view: 'map' }}>Show all</ShowAll>
      </EmptyState>
    );
  if (map.without_vector > 0)
    return (
      <EmptyState
        Icon={TbMap2}
        title="No map yet"
        hint="The memories have no vectors yet, by which a map places them. They are made as soon as the embedding model answers."
      />
    );
  return (
    <EmptyState
      Icon={TbTimelineEvent}
      title="Nothing to draw"
      hint="A map shows the memories there are now. Learn some, or look at the table for those that are hidden."
    />
  );
}

/** How many there are, and which of them have no place. */
export function inWords({ points, groups, total, left_out: leftOut, without_vector: waiting }: MemoriesMap): string {
  const said = [
    `${number(total)} ${total === 1 ? 'memory' : 'memories'} in ${number(groups.length)} ${groups.length === 1 ? 'group' : 'groups'}`,
  ];
  if (leftOut > 0)
    said.push(
      `shown are ${number(points.length)} of at most ${number(MOST_PLACED)}: those recalled, then the newest`,
    );
  if (waiting > 0) said.push(`${number(waiting)} wait for a vector`);
  return said.join(' · ');
}

const number = (value: number) => value.toLocaleString();
