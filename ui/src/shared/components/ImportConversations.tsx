import { Anchor, Button, FileInput, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { useImportConversations } from '@/shared/data/conversations/import';
import { ImportReport } from './ImportReport';
import { ErrorState } from './states';

/** Brings chats of other programs in: what a file holds is told first, then it is stored. */
export function ImportConversations({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const check = useImportConversations();
  const load = useImportConversations();
  const choose = (chosen: File | null) => {
    setFile(chosen);
    load.reset();
    check.reset();
    if (chosen) check.mutate({ file: chosen, dryRun: true });
  };
  return (
    <Modal opened onClose={onClose} title="Import conversations" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        <Text size="sm">
          An export of ChatGPT or Claude (the whole zip, or its <code>conversations.json</code>), DeepSeek, Open
          WebUI, LibreChat, Big-AGI, LM Studio, Jan, SillyTavern (<code>.jsonl</code>) or Mnemoir, or a list of
          messages as OpenAI has them. Conversations you already have are skipped.
        </Text>
        <FileInput
          label="File"
          placeholder="Choose a file"
          accept=".json,.jsonl,.ndjson,.zip"
          value={file}
          onChange={choose}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear file' }}
        />
        {check.isPending && (
          <Text size="sm" c="dimmed" role="status">
            Checking the file…
          </Text>
        )}
        {check.isError && <ErrorState error={check.error} title="This file cannot be imported" />}
        {check.data && !load.data && <ImportReport title="In this file" report={check.data} />}
        {load.isError && <ErrorState error={load.error} title="Nothing was imported" />}
        {load.data && <ImportReport title="Imported" report={load.data} color="teal" />}
        {load.data?.import_id && (
          <Anchor component={Link} to="/past" size="sm" onClick={onClose}>
            Learn from it, or take it back
          </Anchor>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {load.data ? 'Done' : 'Cancel'}
          </Button>
          <Button
            disabled={!check.data?.conversations || !!load.data}
            loading={load.isPending}
            onClick={() => file && load.mutate({ file, dryRun: false })}
          >
            Import
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
