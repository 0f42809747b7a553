import { Alert, Button, List, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { TbTerminal2 } from 'react-icons/tb';
import { CodeBlock } from '@/shared/components/CodeBlock';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { useRunCommand } from '@/shared/data/runs/run';

interface CommandButtonProps {
  run: string;
  /** Place of the node whose request it is; null for the client's own. */
  node: number | null;
  label: string;
}

/** Shows a request as a command to be copied, and tells what of it is not in there. */
export function CommandButton({ run, node, label }: CommandButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const command = useRunCommand(run, node, isOpen);
  return (
    <>
      <Button variant="default" size="compact-sm" leftSection={<TbTerminal2 aria-hidden />} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label} size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
        {command.isPending && <LoadingState label="Loading command" />}
        {command.isError && <ErrorState error={command.error} onRetry={() => void command.refetch()} />}
        {command.data && (
          <Stack gap="xs">
            {command.data.curl.includes('$API_KEY') && (
              <Text size="sm">
                Set <code>API_KEY</code> in your shell first. The key is never recorded.
              </Text>
            )}
            <CodeBlock text={command.data.curl} language="sh" />
            {command.data.left_out.length > 0 && (
              <Alert color="yellow" variant="light" title="Differs from what was sent">
                <List size="sm">
                  {command.data.left_out.map(told => (
                    <List.Item key={told}>{told}</List.Item>
                  ))}
                </List>
              </Alert>
            )}
          </Stack>
        )}
      </Modal>
    </>
  );
}
