import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { AddMemoryDialog } from '@/shared/components/AddMemoryDialog';
import { ForgetMemoriesDialog } from '@/shared/components/ForgetMemoriesDialog';
import { useMay } from '@/shared/data/access';
import { useDialog } from '@/shared/hooks/useDialog';
import { useSettings } from '@/shared/settings/settings';
import classes from './memory.module.css';

interface PanelFootProps {
  shown: number;
  total: number;
  isSearching: boolean;
}

/** How many memories there are, the page with all of them, and their end. */
export function PanelFoot({ shown, total, isSearching }: PanelFootProps) {
  const may = useMay();
  return (
    <div className={classes.foot}>
      <Text size="sm" c="dimmed" role="status">
        {isSearching ? `${counted(shown)} found` : shown < total ? `${shown} of ${counted(total)}` : counted(total)}
      </Text>
      <Group gap="sm">
        <Anchor component={Link} to="/memories" size="sm">
          Open Memories
        </Anchor>
        {may.write && <AddMemory />}
        {may.admin && <ForgetEverything total={total} />}
      </Group>
    </div>
  );
}

function AddMemory() {
  const { user, project } = useSettings();
  const { shown, open, close } = useDialog<'add'>();
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => open('add')}>
        Add a memory
      </Button>
      {shown && <AddMemoryDialog owner={{ user, project }} onClose={close} />}
    </>
  );
}

function ForgetEverything({ total }: { total: number }) {
  const { user, project } = useSettings();
  const { shown, open, close } = useDialog<'forget'>();
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        className={classes.forget ?? ''}
        disabled={total === 0}
        onClick={() => open('forget')}
      >
        Delete all memories
      </Button>
      {shown && <ForgetMemoriesDialog owner={{ user, project }} onClose={close} />}
    </>
  );
}

function counted(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'memory' : 'memories'}`;
}
