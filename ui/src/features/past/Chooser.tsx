import { Alert, Button, FileInput, Group, List, Paper, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type Found, useBringing, useRecognition } from '@/shared/data/imports';
import { bytes } from '@/shared/text/bytes';
import { counted, programOf } from './programs';

const MOST_NAMED = 5;
const WHY: Record<string, string> = {
  exists: 'you have it already',
  unfinished: 'it is there from an import that was cut',
};

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
            Looking into the file…
          </Text>
        )}
        {look.isError && <ErrorState error={look.error} title="This file cannot be imported" />}
        {found?.kind === 'text' && file && (
          <Alert variant="light" color="gray" title="Are these memories?" role="status">
            <Stack gap="xs" align="flex-start">
              <Text size="sm">This is a plain text. Each paragraph of it, or else each line, can be a memory.</Text>
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
  const skipped = found.kind === 'conversations' ? found.answer.skipped : [];
  const leftOut = found.kind === 'conversations' ? Object.entries(found.answer.left_out) : [];
  return (
    <Alert color={color} variant="light" title={`${title}: ${programOf(found.answer.format)}`} role="status">
      {found.kind === 'conversations' ? (
        <>
          {counted(found.answer.conversations, 'conversation', 'conversations')} with{' '}
          {counted(found.answer.messages, 'message', 'messages')}
          {skipped.length > 0 && `; ${skipped.length.toLocaleString()} skipped:`}
        </>
      ) : (
        <>
          {counted(found.answer.imported, 'memory', 'memories')}
          {found.answer.skipped > 0 && `; ${found.answer.skipped.toLocaleString()} skipped`}
        </>
      )}
      {skipped.length > 0 && (
        <List size="xs" mt={4}>
          {skipped.slice(0, MOST_NAMED).map(({ id, title, why }) => (
            <List.Item key={`${id} ${title}`}>
              <Words limit={80}>{title || id}</Words>: <Words limit={200}>{WHY[why] ?? why}</Words>
            </List.Item>
          ))}
          {skipped.length > MOST_NAMED && <List.Item>and {skipped.length - MOST_NAMED} more</List.Item>}
        </List>
      )}
      {leftOut.length > 0 && (
        <Text size="xs" mt={4}>
          Left out, as conversations have no place for it:{' '}
          {leftOut.map(([kind, count]) => `${count.toLocaleString()} of ${kind}`).join(', ')}.
        </Text>
      )}
    </Alert>
  );
}
