import { Anchor, Group, Loader, Modal, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useId, useState } from 'react';
import { TbSearch } from 'react-icons/tb';
import { Link } from 'react-router';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type RecalledLine, type RecallPreview, useRecallPreview } from '@/shared/data/memories/recall';
import type { Scope } from '@/shared/data/scope';
import classes from './recall.module.css';

const PAUSE_MS = 200;

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** What a chat would be given for a question, as one types it, and how much of its room that takes. */
export default function WouldBeRecalled({ owner, onClose }: DialogProps) {
  const [typed, setTyped] = useState('');
  const question = typed.trim();
  const [asked] = useDebouncedValue(question, PAUSE_MS);
  const preview = useRecallPreview(owner, question && asked);
  const isBehind = question !== '' && (preview.isFetching || question !== asked);
  return (
    <Modal
      opened
      onClose={onClose}
      title="What would be recalled for …"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        <TextInput
          data-autofocus
          aria-label="Question"
          placeholder="A question, as in a chat"
          description="What a new chat would be given with it. Nothing is stored, and it counts as no recall."
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          leftSection={isBehind ? <Loader size={14} aria-hidden /> : <TbSearch size={14} aria-hidden />}
          value={typed}
          maxLength={1000}
          onChange={event => setTyped(event.currentTarget.value)}
        />
        {question && preview.isError && <ErrorState error={preview.error} onRetry={() => void preview.refetch()} />}
        {question && preview.data && !preview.isError && (
          <Given preview={preview.data} owner={owner} isBehind={isBehind} onFollow={onClose} />
        )}
      </Stack>
    </Modal>
  );
}

interface GivenProps {
  preview: RecallPreview;
  owner: Scope;
  isBehind: boolean;
  onFollow: () => void;
}

function Given({ preview, owner, isBehind, onFollow }: GivenProps) {
  const { results, tokens, max_tokens: most, memory_enabled: isOn, degraded } = preview;
  if (!isOn)
    return (
      <Text size="sm" role="status">
        Nothing: memory is switched off for this project.
      </Text>
    );
  const fitting = results.filter(({ fits }) => fits);
  const others = results.filter(({ fits }) => !fits);
  return (
    <div className={classes.given} data-behind={isBehind || undefined} aria-busy={isBehind}>
      <div>
        <Text size="xs" c="dimmed" role="status" mb={4}>
          {inWords(fitting.length, others.length)} · about {tokens.toLocaleString()} of {most.toLocaleString()} tokens
        </Text>
        <Progress.Root size="sm">
          {[fitting, others].map((lines, at) => (
            <Progress.Section
              key={at}
              value={shareOf(lines, most)}
              color={at === 0 ? 'var(--accent)' : 'var(--border-strong)'}
              aria-label={at === 0 ? 'Room taken by what fits' : 'Room taken by what is given beside'}
            />
          ))}
        </Progress.Root>
      </div>
      {degraded && (
        <Text size="xs" c="dimmed">
          Not all could be looked at: {degraded}.
        </Text>
      )}
      <Lines name="Fits the question" {...{ lines: fitting, owner, onFollow }} />
      <Lines name="Given beside it, as there is room" {...{ lines: others, owner, onFollow }} />
    </div>
  );
}

interface LinesProps {
  name: string;
  lines: readonly RecalledLine[];
  owner: Scope;
  onFollow: () => void;
}

function Lines({ name, lines, owner, onFollow }: LinesProps) {
  const id = useId();
  if (lines.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <Text id={id} size="xs" fw={600} component="h3" mb={4}>
        {name}
      </Text>
      <ul className={classes.lines}>
        {lines.map((line, at) => (
          <Group key={line.id ?? at} component="li" gap="sm" wrap="nowrap" className={classes.line}>
            <span className={classes.words}>
              {line.id ? (
                <Anchor
                  component={Link}
                  to={`/memories?${new URLSearchParams({ user: owner.user, project: owner.project, id: line.id })}`}
                  size="sm"
                  c="inherit"
                  onClick={onFollow}
                >
                  <Words limit={300}>{line.memory}</Words>
                </Anchor>
              ) : (
                <Words limit={300}>{line.memory}</Words>
              )}
            </span>
            <Text size="xs" c="dimmed" component="span" className={classes.figures}>
              {line.day && `${line.day} · `}
              {line.tokens.toLocaleString()} {line.tokens === 1 ? 'token' : 'tokens'}
            </Text>
          </Group>
        ))}
      </ul>
    </section>
  );
}

function inWords(fitting: number, others: number): string {
  if (fitting + others === 0) return 'Nothing would be recalled';
  const fit = fitting === 0 ? 'None fits' : fitting === 1 ? '1 fits' : `${fitting.toLocaleString()} fit`;
  return others === 0 ? fit : `${fit}, ${others.toLocaleString()} more given`;
}

const shareOf = (lines: readonly RecalledLine[], most: number) =>
  most ? (lines.reduce((all, { tokens }) => all + tokens, 0) / most) * 100 : 0;
