import { Button } from '@mantine/core';
import type { Scope } from '@/shared/data/scope';
import { useDialog } from '@/shared/hooks/useDialog';
import { BatchDialog, type Batched, type Work } from '../dialogs/BatchDialog';

const WORKS: readonly { work: Work; name: string }[] = [
  { work: 'tag', name: 'Tag…' },
  { work: 'move', name: 'Move…' },
  { work: 'expire', name: 'Expire…' },
];

interface BatchActionsProps {
  owner: Scope;
  memories: readonly Batched[];
  onDone: () => void;
}

/** What is done with all those selected at once, by a dialog each. */
export function BatchActions({ owner, memories, onDone }: BatchActionsProps) {
  const { shown, open, close } = useDialog<Work>();
  return (
    <>
      {WORKS.map(({ work, name }) => (
        <Button key={work} size="compact-xs" variant="default" onClick={() => open(work)}>
          {name}
        </Button>
      ))}
      {shown && (
        <BatchDialog
          work={shown}
          owner={owner}
          memories={memories}
          onDone={() => {
            close();
            onDone();
          }}
          onClose={close}
        />
      )}
    </>
  );
}
