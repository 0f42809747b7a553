import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type MemorySource, useIdsOfSource } from '@/shared/data/memories/list';
import type { Scope } from '@/shared/data/scope';
import { useBatches } from '../batches';
import { ORIGIN_NAMES } from '../detail/reasons';

interface DialogProps {
  owner: Scope;
  source: MemorySource;
  /** The ids of what goes. */
  onDeleted: (ids: string[]) => void;
  onClose: () => void;
}

/** Says how much there is of one origin, or conversation, and deletes all of it on request. */
export function RemoveSourceDialog({ owner, source, onDeleted, onClose }: DialogProps) {
  const found = useIdsOfSource(owner, source);
  const remove = useBatches(owner);
  const ids = found.data ?? [];
  const go = () => {
    remove.mutate({ ids, delete: true });
    onDeleted(ids);
    onClose();
  };
  const many = `${ids.length.toLocaleString()} ${ids.length === 1 ? 'memory' : 'memories'}`;
  return (
    <Modal opened onClose={onClose} title="Remove all of this source" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        {found.isPending && <LoadingState label="Counting memories" />}
        {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
        {found.isSuccess && (
          <Text size="sm" component="div">
            {many} of <Words>{owner.user}</Words> in project <Words>{owner.project}</Words> go
            {source.origin && <>, with words from: {ORIGIN_NAMES[source.origin]}</>}
            {source.source && (
              <>
                , learned in conversation <Words>{source.source}</Words>
              </>
            )}
            . Other filters do not matter; what has decayed goes, too. You can undo it.
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red" disabled={ids.length === 0} onClick={go}>
            Remove {found.isSuccess ? many : 'all'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
