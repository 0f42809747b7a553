import { Alert, Button, FileInput, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { type Imported, useImport } from '@/shared/data/memories/transfer';
import type { Scope } from '@/shared/data/scope';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** Adds memories from a file, and tells how many were new. */
export function ImportDialog({ owner, onClose }: DialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const [done, setDone] = useState<Imported | null>(null);
  const load = useImport(owner, setDone);
  return (
    <Modal opened onClose={onClose} title="Import memories" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        <Text size="sm">
          A .jsonl file from an export: one memory per line, with the user it belongs to. Memories you already have
          are skipped.
        </Text>
        <FileInput
          label="File"
          placeholder="Choose a .jsonl file"
          accept=".jsonl,.ndjson,.json,application/x-ndjson"
          value={file}
          onChange={chosen => {
            setFile(chosen);
            setDone(null);
            load.reset();
          }}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear file' }}
        />
        {file?.size === 0 && (
          <Alert color="orange" variant="light" role="status">
            The file is empty.
          </Alert>
        )}
        {load.isPending && done && (
          <Progress value={done.share * 100} aria-label="Imported so far" animated striped />
        )}
        {load.isError && (
          <ErrorState
            error={load.error}
            title={done ? `Only partly imported: ${inWords(done)}, and then` : 'Nothing was imported'}
          />
        )}
        {load.data && (
          <Alert color="teal" variant="light" title="Imported" role="status">
            {inWords(load.data)}.
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {load.data ? 'Done' : 'Cancel'}
          </Button>
          <Button
            disabled={!file?.size || !!load.data}
            loading={load.isPending}
            onClick={() => file && load.mutate(file)}
          >
            Import
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function inWords({ imported, skipped }: Imported): string {
  return `${imported} added, ${skipped} skipped`;
}
