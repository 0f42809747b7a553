import { Button, Group, Text, Textarea } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { notifyFailure } from '@/shared/components/notify';
import { messageOf } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { type Proposal, useApprove, useEditProposal, useRefuse } from '@/shared/data/memories/proposals';
import type { Scope } from '@/shared/data/scope';
import { ChangedWords } from '../detail/ChangedWords';
import { ORIGIN_NAMES, reasonInWords } from '../detail/reasons';
import classes from './dialogs.module.css';

interface RowProps {
  owner: Scope;
  proposal: Proposal;
  selector: ReactNode;
}

const EVENTS = { ADD: 'New', UPDATE: 'Change', DELETE: 'Deletion' };

/** One proposal: what it would do and why, and what a person decides about it. */
export function ProposalRow({ owner, proposal, selector }: RowProps) {
  const { id, event, memory, previous_memory: previous } = proposal;
  const [isEdited, setEdited] = useState(false);
  const approve = useApprove(owner);
  const refuse = useRefuse(owner);
  const isBusy = approve.isPending || refuse.isPending;
  const isSuspected = proposal.reason === 'suspected_instruction';
  return (
    <li className={classes.group}>
      <div className={classes.changeHead}>
        <Group gap="xs">
          {selector}
          <Text size="xs" fw={600} component="span" c="var(--mantine-color-text)">
            {EVENTS[event]}
          </Text>
          <span>{reasonInWords(proposal)}</span>
          {proposal.origin && <span>· {ORIGIN_NAMES[proposal.origin]}</span>}
        </Group>
        <Time value={proposal.created_at} />
      </div>
      {isEdited ? (
        <Editor owner={owner} proposal={proposal} onDone={() => setEdited(false)} />
      ) : (
        <>
          <div className={classes.changed}>
            <ChangedWords
              before={event === 'DELETE' ? memory : previous}
              after={event === 'DELETE' ? null : memory}
            />
          </div>
          {approve.isError && (
            <Text size="xs" c="red" role="alert">
              {messageOf(approve.error)}
            </Text>
          )}
          <Group gap="xs" mt="xs">
            <Button size="compact-sm" disabled={isBusy} onClick={() => approve.mutate(id)}>
              {isSuspected ? 'Keep' : 'Approve'}
            </Button>
            {event !== 'DELETE' && (
              <Button size="compact-sm" variant="default" disabled={isBusy} onClick={() => setEdited(true)}>
                Edit
              </Button>
            )}
            <Button
              size="compact-sm"
              variant="default"
              disabled={isBusy}
              onClick={() =>
                refuse.mutate(id, { onError: error => notifyFailure('Could not refuse the proposal', error) })
              }
            >
              {isSuspected ? 'Discard' : 'Refuse'}
            </Button>
          </Group>
        </>
      )}
    </li>
  );
}

interface EditorProps {
  owner: Scope;
  proposal: Proposal;
  onDone: () => void;
}

function Editor({ owner, proposal, onDone }: EditorProps) {
  const [typed, setTyped] = useState(proposal.memory);
  const field = useRef<HTMLTextAreaElement>(null);
  const edit = useEditProposal(owner);
  useEffect(() => field.current?.focus(), []);
  const text = typed.trim();
  return (
    <>
      <Textarea
        mt="xs"
        aria-label="Memory text"
        value={typed}
        autosize
        maxRows={10}
        maxLength={100_000}
        ref={field}
        onChange={event => setTyped(event.currentTarget.value)}
        data-mantine-stop-propagation // Escape is for the field; the dialog stays open
        onKeyDown={event => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          onDone();
        }}
      />
      {edit.isError && (
        <Text size="xs" c="red" role="alert">
          {messageOf(edit.error)}
        </Text>
      )}
      <Group gap="xs" mt="xs">
        <Button
          size="compact-sm"
          disabled={!text}
          loading={edit.isPending}
          onClick={() => edit.mutate({ id: proposal.id, memory: text }, { onSuccess: onDone })}
        >
          Save
        </Button>
        <Button size="compact-sm" variant="default" onClick={onDone}>
          Cancel
        </Button>
      </Group>
    </>
  );
}
