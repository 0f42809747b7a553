import { Modal } from '@mantine/core';
import type { Memory } from '@/shared/data/memories/list';
import type { Scope } from '@/shared/data/scope';
import { MergeForm } from './MergeForm';

interface MergeDialogProps {
  owner: Scope;
  memories: Memory[];
  onClose: () => void;
}

/** Merges the memories that were selected. */
export function MergeDialog({ owner, memories, onClose }: MergeDialogProps) {
  return (
    <Modal opened onClose={onClose} title="Merge memories" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <MergeForm owner={owner} memories={memories} onMerged={onClose} />
    </Modal>
  );
}
