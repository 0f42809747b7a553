import { Badge, Button, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { goesOn, type ImportRecord, useStop, useUndoImport } from '@/shared/data/imports';
import { LearnQuestion } from './LearnQuestion';
import { counted, programOf } from './programs';

const STATES: Record<ImportRecord['state'], string> = {
  stored: 'Imported',
  learning: 'Learning',
  stopped: 'Stopped',
  learned: 'Learned',
  undoing: 'Being undone',
  undone: 'Undone',
};

/** One import: what came of it, and what can be done with it. */
export function ImportCard({ one }: { one: ImportRecord }) {
  const [asks, setAsks] = useState(false);
  const may = useMay();
  const stop = useStop();
  const undo = useUndoImport();
  const name = `${programOf(one.program)}: ${amountOf(one)}`;
  const takeBack = async () => {
    const message =
      'What was learned from it and what it stored are removed. Anything you have changed by hand since then stays.';
    if (!(await confirm({ title: 'Undo this import?', message, action: 'Undo import' }))) return;
    undo.mutate(one.id, { onError: error => notifyFailure('Could not undo that', error) });
  };
  return (
    <Paper withBorder p="sm" component="li" aria-label={name}>
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Text fw={600} size="sm">
            {name}
          </Text>
          <Group gap="xs">
            <Badge variant="light" color={one.state === 'learned' ? 'teal' : 'gray'} tt="none">
              {STATES[one.state]}
            </Badge>
            <Text size="xs" c="dimmed" component="span">
              <Time value={one.created_at} ago />
            </Text>
          </Group>
        </Group>
        {one.turns > 0 && <Outcome one={one} />}
        {one.waits_for !== null && (
          <Text size="xs" role="status">
            It waits: <Words limit={300}>{one.waits_for}</Words>
          </Text>
        )}
        {asks && <LearnQuestion id={one.id} onClose={() => setAsks(false)} />}
        {may.admin && (
          <Group gap="xs">
            {mayBeLearned(one) && !asks && (
              <Button size="xs" onClick={() => setAsks(true)}>
                Learn from it
              </Button>
            )}
            {one.state === 'learning' && (
              <Button size="xs" variant="default" loading={stop.isPending} onClick={() => stop.mutate(one.id)}>
                Stop
              </Button>
            )}
            {one.state !== 'undone' && one.state !== 'undoing' && (
              <Button size="xs" variant="default" loading={undo.isPending} onClick={() => void takeBack()}>
                Undo
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

const mayBeLearned = ({ kind, state }: ImportRecord) =>
  kind === 'conversations' && (state === 'stored' || state === 'stopped');

function amountOf({ kind, stored }: ImportRecord): string {
  return kind === 'conversations'
    ? counted(stored, 'conversation', 'conversations')
    : counted(stored, 'memory', 'memories');
}

function Outcome({ one }: { one: ImportRecord }) {
  const told = [
    `${one.turns_done.toLocaleString()} of ${counted(one.turns, 'turn', 'turns')}`,
    `${counted(one.learned, 'memory', 'memories')} learned`,
    one.to_review > 0 && `${one.to_review.toLocaleString()} to review`,
    one.failed > 0 && `${one.failed.toLocaleString()} that could not be read`,
  ];
  return (
    <>
      {goesOn(one) && (
        <Progress value={(one.turns_done / one.turns) * 100} aria-label="Learned from so far" animated striped />
      )}
      <Text size="xs" c="dimmed">
        {told.filter(Boolean).join(' · ')}
      </Text>
    </>
  );
}
