import { Group, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import { CopyButton } from '@/shared/components/CopyButton';
import { Markdown } from '@/shared/components/markdown/Markdown';
import { Words } from '@/shared/components/Words';
import type { RunNode } from '@/shared/data/runs/run';
import classes from './NodePrompt.module.css';

/** What came of the node, as it is or as Markdown. */
export function NodeOutput({ node }: { node: RunNode }) {
  const [view, setView] = useState('text');
  if (!node.output)
    return (
      <Text c="dimmed" size="sm">
        {node.duration_ms === null ? 'No output yet.' : 'No output.'}
      </Text>
    );
  return (
    <>
      <Group justify="space-between" mb="xs">
        <SegmentedControl
          size="xs"
          value={view}
          onChange={setView}
          aria-label="Show the output as"
          data={[
            { value: 'text', label: 'Text' },
            { value: 'markdown', label: 'Markdown' },
          ]}
        />
        <CopyButton text={node.output} label="Copy output" />
      </Group>
      <div className={classes.message}>
        {view === 'markdown' ? (
          <Markdown>{node.output}</Markdown>
        ) : (
          <div className={classes.text}>
            <Words>{node.output}</Words>
          </div>
        )}
      </div>
    </>
  );
}
