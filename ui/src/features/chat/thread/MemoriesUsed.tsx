import { Anchor, Popover, ScrollArea, Stack, Text, UnstyledButton } from '@mantine/core';
import { Link } from 'react-router';
import { Words } from '@/shared/components/Words';
import type { RunShort } from '@/shared/data/runs/run';

/** How many memories an answer was given, and on a click which. */
export function MemoriesUsed({ memories }: { memories: RunShort['memories'] }) {
  const label = memories.length === 1 ? '1 memory' : `${memories.length} memories`;
  if (memories.length === 0) return <span>{label}</span>;
  return (
    <Popover width="min(24rem, 90vw)" position="top" withArrow shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton>{label}</UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm" fw={600} mb="xs">
          Memories used
        </Text>
        <ScrollArea.Autosize
          mah="16rem"
          viewportProps={{ tabIndex: 0, 'aria-label': 'Memories used', role: 'region' }}
        >
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
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}
