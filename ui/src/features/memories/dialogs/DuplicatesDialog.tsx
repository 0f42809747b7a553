import { Modal, Stack, Text } from '@mantine/core';
import { TbCopyCheck } from 'react-icons/tb';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useDuplicates } from '@/shared/data/memories/details';
import type { Scope } from '@/shared/data/scope';
import { MergeForm } from './MergeForm';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** Facts that may be one, group by group. */
export function DuplicatesDialog({ owner, onClose }: DialogProps) {
  return (
    <Modal opened onClose={onClose} title="Duplicates" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Groups owner={owner} />
    </Modal>
  );
}

const MOST_SHOWN = 50;

function Groups({ owner }: { owner: Scope }) {
  const duplicates = useDuplicates(owner);
  if (duplicates.isPending) return <LoadingState label="Comparing all memories" />;
  if (duplicates.isError) return <ErrorState error={duplicates.error} onRetry={() => void duplicates.refetch()} />;
  const { results, total, compared } = duplicates.data;
  if (total === 0)
    return (
      <EmptyState
        Icon={TbCopyCheck}
        title="No duplicates"
        hint={`${compared.toLocaleString()} facts were compared with each other.`}
      />
    );
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {total} {total === 1 ? 'group' : 'groups'} among {compared.toLocaleString()} facts that say nearly the same.
        Merging keeps one of them, and can be undone.
      </Text>
      {results.slice(0, MOST_SHOWN).map(group => (
        <MergeForm
          key={group.memories.map(memory => memory.id).join(' ')}
          owner={owner}
          memories={group.memories}
          likeness={group.likeness}
          onMerged={() => undefined}
        />
      ))}
    </Stack>
  );
}
