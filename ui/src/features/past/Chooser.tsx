import { Alert, Button, FileInput, Group, Paper, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ImportReport, LeftOut } from '@/shared/components/ImportReport';
import { ErrorState } from '@/shared/components/states';
import { type Found, useBringing, useRecognition } from '@/shared/data/imports';
import { bytes } from '@/shared/text/bytes';
import { counted, programOf } from './programs';

/** Takes a file, says what it is and what of it will come, and brings that in. */
export function Chooser({ mostBytes }: { mostBytes: number | undefined }) {
  const [file, setFile] = useState<File | null>(null);
  const look = useRecognition();
  const bring = useBringing();
  const isTooLarge = file !== null && mostBytes !== undefined && file.size > mostBytes;
  const choose = (chosen: File | null) => {
    setFile(chosen);
    look.reset();
    bring.reset();
    if (chosen?.size && chosen.size <= (mostBytes ?? Infinity)) look.mutate({ file: chosen });
  };
  const found = bring.isSuccess ? undefined : look.data;
  return (
    <Paper withBorder p="md" component="section" aria-label="A file">
      <Stack gap="sm">
        <Text size="sm">
          Chats of ChatGPT or Claude (the whole zip, or its <code>conversations.json</code>), DeepSeek, Open WebUI,
          LibreChat, Big-AGI, LM Studio, Jan, SillyTavern or Mnemoir; memories of mem0, Letta, Open WebUI, Claude or
          the MCP server memory; or a text with a memory on each line.
        </Text>
        <FileInput
          label="File"
          description={mostBytes === undefined ? undefined : `At most ${bytes(mostBytes)}`}
          placeholder="Choose a file"
          value={file}
          onChange={choose}
          disabled={bring.isPending}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear file' }}
        />
        {file?.size === 0 && <Remark>The file is empty.</Remark>}
        {isTooLarge && (
          <Remark>
            The file has {bytes(file.size)}, and the server takes {bytes(mostBytes)}. Export it in parts, or have{' '}
            <code>server.max_body_mib</code> raised.
          </Remark>
        )}
        {look.isPending && (
          <Text size="sm" c="dimmed" role="status">
            Reading the file…
          </Text>
        )}
        {look.isError && <ErrorState error={look.error} title="This file cannot be imported" />}
        {found?.kind === 'text' && file && (
          <Alert variant="light" color="gray" title="Are these memories?" role="status">
            <Stack gap="xs" align="flex-start">
              <Text size="sm">This is plain text. Each paragraph, or else each line, can become a memory.</Text>
              <Group gap="xs">
                <Button size="xs" onClick={() => look.mutate({ file, isMemories: true })}>
                  Yes, they are
                </Button>
                <Button size="xs" variant="default" onClick={() => choose(null)}>
                  No
                </Button>
              </Group>
            </Stack>
          </Alert>
        )}
        {found && found.kind !== 'text' && <Report title="In this file" found={found} />}
        {bring.isError && <ErrorState error={bring.error} title="Nothing was imported" />}
        {bring.data && bring.data.kind !== 'text' && <Report title="Imported" found={bring.data} color="teal" />}
        {found && found.kind !== 'text' && file && (
          <Group justify="flex-end">
            <Button
              disabled={comesOf(found) === 0}
              loading={bring.isPending}
              onClick={() => bring.mutate({ file, found })}
            >
              Import
            </Button>
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

function Remark({ children }: { children: React.ReactNode }) {
  return (
    <Alert color="orange" variant="light" role="status">
      {children}
    </Alert>
  );
}

type Held = Exclude<Found, { kind: 'text' }>;

const comesOf = (found: Held) =>
  found.kind === 'conversations' ? found.answer.conversations : found.answer.imported;

interface ReportProps {
  title: string;
  found: Held;
  color?: string;
}

/** What comes, or came, and what does not. */
function Report({ title, found, color = 'gray' }: ReportProps) {
  const named = `${title}: ${programOf(found.answer.format)}`;
  if (found.kind === 'conversations') return <ImportReport title={named} report={found.answer} color={color} />;
  const { imported, skipped, left_out = {} } = found.answer;
  return (
    <Alert color={color} variant="light" title={named} role="status">
      {counted(imported, 'memory', 'memories')}
      {skipped > 0 && `; ${skipped.toLocaleString()} skipped`}
      <LeftOut counts={left_out} kept="memories" />
    </Alert>
  );
}
