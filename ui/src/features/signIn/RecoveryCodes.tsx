import { Alert, Button, Code, CopyButton, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { TbAlertTriangle, TbCheck, TbCopy, TbDownload } from 'react-icons/tb';
import { saveFile } from '@/shared/files/files';

/** Ten codes that were just made, which no one can see again. */
export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const text = `${codes.join('\n')}\n`;
  return (
    <Stack gap="md">
      <Alert color="yellow" variant="light" icon={<TbAlertTriangle aria-hidden />} title="Save these codes">
        <Text size="sm">
          Each signs you in once, without a password or passkey. They are shown only now: save them in a safe place.
        </Text>
      </Alert>
      <SimpleGrid cols={2} spacing="xs" role="list" aria-label="Recovery codes">
        {codes.map(code => (
          <Code key={code} fz="sm" p="xs" ta="center" role="listitem">
            {code}
          </Code>
        ))}
      </SimpleGrid>
      <Group gap="xs">
        <CopyButton value={text} timeout={2000}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              variant="default"
              leftSection={copied ? <TbCheck size={15} aria-hidden /> : <TbCopy size={15} aria-hidden />}
              onClick={copy}
            >
              {copied ? 'Copied' : 'Copy all'}
            </Button>
          )}
        </CopyButton>
        <Button
          size="xs"
          variant="default"
          leftSection={<TbDownload size={15} aria-hidden />}
          onClick={() => saveFile(new Blob([text], { type: 'text/plain' }), 'mnemoir-recovery-codes.txt')}
        >
          Save as a file
        </Button>
      </Group>
    </Stack>
  );
}
