import { Button, Group, Modal, Text } from '@mantine/core';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { type ConfigText, useKeptText, useRestoreWorkflow } from '@/shared/data/workflows';
import { DiffBox } from './DiffBox';

interface RestoreDialogProps {
  /** The file as it is on the server. */
  file: ConfigText;
  onRestored: () => void;
  onClose: () => void;
}

/** Shows the version before the last save, and puts it back. */
export function RestoreDialog({ file, onRestored, onClose }: RestoreDialogProps) {
  const { data: kept, error, refetch } = useKeptText(file.path);
  const restore = useRestoreWorkflow();
  return (
    <Modal opened onClose={onClose} title="Earlier version" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Text size="sm" c="dimmed">
        The version before the last save, compared with the current one. You can undo a restore the same way.
      </Text>
      {error ? (
        <ErrorState error={error} title="The earlier version could not be loaded" onRetry={() => void refetch()} />
      ) : kept ? (
        <DiffBox label="What restoring changes" before={file.text} after={kept.text} />
      ) : (
        <LoadingState label="Loading the earlier version" />
      )}
      {restore.error && <ErrorState error={restore.error} title="Could not restore" />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={restore.isPending}
          disabled={!kept}
          onClick={() => restore.mutate({ path: file.path, digest: file.digest }, { onSuccess: onRestored })}
        >
          Restore
        </Button>
      </Group>
    </Modal>
  );
}
