import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { useSettings } from '@/shared/settings/settings';
import { useForgetEverything } from '../api/memories-forget';
import classes from './memory.module.css';

interface PanelFootProps {
  shown: number;
  total: number;
  isSearching: boolean;
}

/** How many memories there are, the page with all of them, and their end. */
export function PanelFoot({ shown, total, isSearching }: PanelFootProps) {
  return (
    <div className={classes.foot}>
      <Text size="sm" c="dimmed" role="status">
        {isSearching ? `${counted(shown)} found` : shown < total ? `${shown} of ${counted(total)}` : counted(total)}
      </Text>
      <Group gap="sm">
        <Anchor component={Link} to="/memories" size="sm">
          Open the page
        </Anchor>
        <ForgetEverything total={total} />
      </Group>
    </div>
  );
}

function ForgetEverything({ total }: { total: number }) {
  const { user, project } = useSettings();
  const forget = useForgetEverything();
  const ask = async () => {
    const isSure = await confirm({
      title: 'Forget everything?',
      message:
        `${counted(total)} of the user “${user}” in the project “${project}” are deleted with their history. ` +
        'Conversations stay. This cannot be undone.',
      action: 'Forget everything',
    });
    if (isSure)
      forget.mutate(undefined, { onError: error => notifyFailure('The memories could not be deleted', error) });
  };
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      className={classes.forget ?? ''}
      disabled={total === 0}
      loading={forget.isPending}
      onClick={() => void ask()}
    >
      Forget everything
    </Button>
  );
}

function counted(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'memory' : 'memories'}`;
}
