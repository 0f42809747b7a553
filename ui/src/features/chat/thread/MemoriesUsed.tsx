import { Anchor, Popover, ScrollArea, Stack, Text, UnstyledButton } from '@mantine/core';
import { Link } from 'react-router';
import { Words } from '@/shared/components/Words';
import type { RunShort } from '@/shared/data/runs/run';
import classes from './Message.module.css';

type Memories = RunShort['memories'];

/** How many memories an answer was given and how many of them fit its question; on a click which. */
export function MemoriesUsed({ memories }: { memories: Memories }) {
  const fitting = memories.filter(memory => memory.fits);
  const others = memories.filter(memory => !memory.fits);
  const label = shortly(fitting.length, others.length);
  if (memories.length === 0) return <span>{label}</span>;
  return (
    <Popover width="min(24rem, 90vw)" position="top" withArrow shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton>{label}</UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm" fw={600} mb="xs">
          {fitting.length > 0 ? 'Memories that fit the question' : 'None fits the question'}
        </Text>
        <ScrollArea.Autosize
          mah="16rem"
          viewportProps={{ tabIndex: 0, 'aria-label': 'Memories given', role: 'region' }}
        >
          <List memories={fitting} />
          {others.length > 0 && (
            <details className={classes.folded} open={fitting.length === 0}>
              <summary>{others.length} more given, as many as there was room for</summary>
              <List memories={others} />
            </details>
          )}
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}

function List({ memories }: { memories: Memories }) {
  return (
    <Stack gap="xs">
      {memories.map(({ id, text }, at) =>
        id ? (
          <Anchor key={at} component={Link} to={`/memories?id=${encodeURIComponent(id)}`} size="sm">
            <Words>{text}</Words>
          </Anchor>
        ) : (
          <Text key={at} size="sm">
            <Words>{text}</Words>
          </Text>
        ),
      )}
    </Stack>
  );
}

function shortly(fitting: number, others: number): string {
  if (others === 0) return fitting === 1 ? '1 memory' : `${fitting} memories`;
  return `${fitting === 0 ? 'no memory fits' : `${fitting} fit`} · ${others} more given`;
}
