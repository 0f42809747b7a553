import { Alert, Button, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { TbDownload, TbLifebuoy } from 'react-icons/tb';
import { saveFile } from '@/shared/files/files';
import { CopyButton } from './CopyButton';

interface RecoveryCodesProps {
  codes: readonly string[];
  /** What the last button says. */
  action: string;
  onDone: () => void;
}

/** The ten codes that let somebody in who lost password and passkey. They are shown this once. */
export function RecoveryCodes({ codes, action, onDone }: RecoveryCodesProps) {
  const text = codes.join('\n');
  return (
    <Stack>
      <Alert variant="light" color="yellow" icon={<TbLifebuoy aria-hidden />} title="Keep your recovery codes">
        <Text size="sm">
          Each lets you in once, should you lose your password or your device. They are shown this once.
        </Text>
      </Alert>
      <SimpleGrid cols={2} spacing="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Codes">
        {codes.map(code => (
          <li key={code}>
            <Code fz="sm">{code}</Code>
          </li>
        ))}
      </SimpleGrid>
      <Group gap="xs">
        <CopyButton text={text} label="Copy the codes" />
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<TbDownload aria-hidden />}
          onClick={() => saveFile(new Blob([`${text}\n`], { type: 'text/plain' }), 'mnemoir-recovery-codes.txt')}
        >
          Save as a file
        </Button>
        <Button ml="auto" onClick={onDone}>
          {action}
        </Button>
      </Group>
    </Stack>
  );
}
