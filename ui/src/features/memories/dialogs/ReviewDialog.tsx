import { Button, Checkbox, Group, Modal, Text } from '@mantine/core';
import { TbChecks } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useApproveSeveral, useProposals, useRefuseSeveral } from '@/shared/data/memories/proposals';
import type { Scope } from '@/shared/data/scope';
import { useSelection } from '../list/useSelection';
import classes from './dialogs.module.css';
import { ProposalRow } from './ProposalRow';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** What was learned and waits: approved, edited or refused, one by one or many at once. */
export function ReviewDialog({ owner, onClose }: DialogProps) {
  return (
    <Modal opened onClose={onClose} title="Review" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Queue owner={owner} />
    </Modal>
  );
}

function Queue({ owner }: { owner: Scope }) {
  const queue = useProposals(owner);
  const selection = useSelection(queue.proposals.map(proposal => proposal.id));
  if (queue.isPending) return <LoadingState label="Loading proposals" />;
  if (queue.isError) return <ErrorState error={queue.error} onRetry={() => void queue.refetch()} />;
  if (queue.proposals.length === 0)
    return (
      <EmptyState
        Icon={TbChecks}
        title="Nothing to review"
        hint="Anything that may be an instruction to a model waits here; in projects with review, everything that was learned does."
      />
    );
  return (
    <>
      <Several owner={owner} ids={[...selection.ids]} total={queue.total} />
      <ol className={classes.log} aria-label="Proposals, newest first">
        {queue.proposals.map(proposal => (
          <ProposalRow
            key={proposal.id}
            owner={owner}
            proposal={proposal}
            selector={
              <Checkbox
                size="xs"
                aria-label={`Select: ${proposal.memory}`}
                checked={selection.ids.has(proposal.id)}
                onChange={() => selection.toggle(proposal.id)}
              />
            }
          />
        ))}
      </ol>
      {queue.hasNextPage && (
        <Button
          variant="default"
          fullWidth
          loading={queue.isFetchingNextPage}
          onClick={() => void queue.fetchNextPage()}
        >
          Earlier proposals
        </Button>
      )}
    </>
  );
}

interface SeveralProps {
  owner: Scope;
  /** The selected ones; without any the buttons are for all. */
  ids: string[];
  total: number;
}

function Several({ owner, ids, total }: SeveralProps) {
  const approve = useApproveSeveral(owner, {
    onSuccess: ({ failed }) => {
      if (failed[0]) notifyFailure(`${failed.length} not approved`, new Error(failed[0].error));
    },
    onError: error => notifyFailure('Could not approve everything', error),
  });
  const refuse = useRefuseSeveral(owner);
  const which = ids.length > 0 ? ids : null;
  const what = which === null ? `all ${total}` : String(which.length);
  const drop = async () => {
    const message = `${what} will not be remembered. This cannot be undone.`;
    if (await confirm({ title: `Refuse ${what}`, message, action: 'Refuse' }))
      refuse.mutate(which, { onError: error => notifyFailure('Could not refuse the proposals', error) });
  };
  const isBusy = approve.isPending || refuse.isPending;
  return (
    <Group justify="space-between" mb="sm">
      <Text size="sm" c="dimmed">
        {total} {total === 1 ? 'waits' : 'wait'}; not recalled until approved.
      </Text>
      <Group gap="xs">
        <Button size="compact-sm" disabled={isBusy} onClick={() => approve.mutate(which)}>
          Approve {what}
        </Button>
        <Button size="compact-sm" variant="default" disabled={isBusy} onClick={() => void drop()}>
          Refuse {what}
        </Button>
      </Group>
    </Group>
  );
}
