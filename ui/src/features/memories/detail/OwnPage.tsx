import { Button } from '@mantine/core';
import { TbArrowLeft } from 'react-icons/tb';
import { PageFrame } from '@/shared/components/PageFrame';
import type { Scope } from '@/shared/data/scope';
import { MemoryPanel } from './MemoryPanel';
import { Recalls } from './Recalls';

interface OwnPageProps {
  owner: Scope;
  id: string;
  onDelete: (id: string) => void;
  onBack: () => void;
}

/** One memory by itself, with its whole story: where it comes from, what changed it, which answers it was given to. */
export function OwnPage({ owner, id, onDelete, onBack }: OwnPageProps) {
  return (
    <PageFrame
      title="Memory"
      column
      actions={
        <Button size="xs" variant="default" leftSection={<TbArrowLeft size={15} aria-hidden />} onClick={onBack}>
          All memories
        </Button>
      }
    >
      <MemoryPanel key={id} owner={owner} id={id} onDelete={onDelete} onClose={null}>
        <Recalls owner={owner} id={id} />
      </MemoryPanel>
    </PageFrame>
  );
}
