import { ActionIcon, Popover, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { TbHistory } from 'react-icons/tb';
import { Link } from 'react-router';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMemoryHistory } from '@/shared/data/memories/details';
import { useScope } from '@/shared/data/scope';
import classes from './memory.module.css';

const MOST_SHOWN = 300; // characters
const HOLDS_ESCAPE = { 'data-mantine-stop-propagation': true }; // it closes this, and not the drawer around it

/** What happened to a memory, behind a button. */
export function HistoryPopover({ id }: { id: string }) {
  const [opened, popover] = useDisclosure(false);
  return (
    <Popover
      opened={opened}
      onChange={popover.close}
      position="bottom-end"
      width="min(22rem, 85vw)"
      trapFocus
      withinPortal
    >
      <Popover.Target>
        <Tooltip label="History" disabled={opened}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label="History"
            onClick={popover.toggle}
            {...(opened && HOLDS_ESCAPE)}
          >
            <TbHistory size={16} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown aria-label="History of the memory" {...HOLDS_ESCAPE}>
        <History id={id} />
      </Popover.Dropdown>
    </Popover>
  );
}

const EVENTS: Record<string, string> = {
  ADD: 'Learned',
  UPDATE: 'Changed',
  DELETE: 'Deleted',
  RESTORE: 'Restored',
};

function History({ id }: { id: string }) {
  const history = useMemoryHistory(useScope(), id);
  if (history.isPending) return <LoadingState label="Loading history" />;
  if (history.isError) return <ErrorState error={history.error} onRetry={() => void history.refetch()} />;
  return (
    <>
      <div
        className={classes.history}
        tabIndex={0}
        role="region"
        aria-label="Changes, oldest first"
        {...HOLDS_ESCAPE}
      >
        <ol>
          {history.data.results.map(entry => (
            <li key={entry.id}>
              <Text size="xs" c="dimmed" component="div">
                {EVENTS[entry.event] ?? entry.event} · <Time value={entry.created_at} />
                {entry.reason && <> · {entry.reason}</>}
              </Text>
              {entry.old_memory !== null && (
                <Text size="sm" component="del" c="dimmed" display="block">
                  <Words limit={MOST_SHOWN}>{entry.old_memory}</Words>
                </Text>
              )}
              {entry.new_memory !== null && (
                <Text size="sm" component="div">
                  <Words limit={MOST_SHOWN}>{entry.new_memory}</Words>
                </Text>
              )}
            </li>
          ))}
        </ol>
      </div>
      <Text size="sm" component={Link} {...HOLDS_ESCAPE} to={`/memories?${new URLSearchParams({ id }).toString()}`}>
        Open with sources
      </Text>
    </>
  );
}
