import { Button, Group, Radio, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { Memory } from '@/shared/data/memories/list';
import type { Scope } from '@/shared/data/scope';
import { useMerging } from '../batches';
import classes from './dialogs.module.css';
import { mostTypical } from './mostTypical';

interface MergeFormProps {
  owner: Scope;
  memories: Memory[];
  /** How alike each further one is to the first, from 0 to 1. */
  likeness?: number[];
  onMerged: () => void;
}

/** Which of several memories is kept, and what it says then. */
export function MergeForm({ owner, memories, likeness, onMerged }: MergeFormProps) {
  const [typical] = useState(() => mostTypical(memories));
  const [keep, setKeep] = useState(typical?.id ?? '');
  const [text, setText] = useState(typical?.memory ?? '');
  const merge = useMerging(owner, memories);
  const choose = (id: string) => {
    setKeep(id);
    setText(memories.find(memory => memory.id === id)?.memory ?? '');
  };
  return (
    <Stack gap="xs" className={classes.group}>
      <Radio.Group value={keep} onChange={choose} aria-label="Keep">
        <Stack gap={6}>
          {memories.map((memory, at) => (
            <Radio
              key={memory.id}
              size="xs"
              value={memory.id}
              label={
                <>
                  <Words limit={300}>{memory.memory}</Words>{' '}
                  <span className={classes.aside}>
                    <Time value={memory.created_at} ago />
                    {likeness && at > 0 && ` · ${Math.round((likeness[at - 1] ?? 0) * 100)} % alike`}
                  </span>
                </>
              }
            />
          ))}
        </Stack>
      </Radio.Group>
      <Textarea
        size="xs"
        label="Merged text"
        autosize
        maxRows={6}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
      />
      {merge.isError && <ErrorState error={merge.error} title="Could not merge the memories" />}
      <Group justify="flex-end">
        <Button
          size="xs"
          disabled={!text.trim()}
          loading={merge.isPending}
          onClick={() =>
            merge.mutate({ ids: memories.map(memory => memory.id), keep, text }, { onSuccess: onMerged })
          }
        >
          Merge {memories.length} into one
        </Button>
      </Group>
    </Stack>
  );
}
