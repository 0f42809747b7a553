import { Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type Erasure, type Subject, useEraseSubject } from '@/shared/data/subjects';
import { LeftKeys } from './LeftKeys';

interface EraseDialogProps {
  subject: Subject;
  onClose: () => void;
}

/** Asks for the name before everything of a person goes for good, and then reports what went. */
export function EraseDialog({ subject, onClose }: EraseDialogProps) {
  const [typed, setTyped] = useState('');
  const erase = useEraseSubject();
  const isSure = typed.trim() === subject.user;
  return (
    <Modal opened onClose={onClose} title="Erase all data" closeButtonProps={{ 'aria-label': 'Close' }}>
      {erase.data ? (
        <Report report={erase.data} onClose={onClose} />
      ) : (
        <form
          onSubmit={event => {
            event.preventDefault();
            if (isSure) erase.mutate(subject);
          }}
        >
          <Stack gap="md">
            <Text size="sm" component="div">
              All memories, conversations, files, traces and keys of <Words>{subject.user}</Words> go, in all
              projects, and so does whoever signs in with them. Nothing brings them back, not even a restored backup.
            </Text>
            <TextInput
              label="Type the name of the memories to confirm"
              placeholder={subject.user}
              autoComplete="off"
              data-autofocus
              value={typed}
              onChange={event => setTyped(event.currentTarget.value)}
            />
            {erase.isError && <ErrorState error={erase.error} title="Not everything was erased" />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" color="red" disabled={!isSure} loading={erase.isPending}>
                Erase everything
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

function Report({ report, onClose }: { report: Erasure; onClose: () => void }) {
  const counts = Object.entries(report.counts).filter(([, count]) => count > 0);
  return (
    <Stack gap="md">
      <div role="status">
        <Text size="sm">
          {counts.length ? 'Erased' : 'Nothing was stored'} of <Words>{report.user_id}</Words>
          {counts.length > 0 && ':'}
        </Text>
        <List size="sm">
          {counts.map(([what, count]) => (
            <List.Item key={what}>
              {what.replaceAll('_', ' ')}: {count.toLocaleString()}
            </List.Item>
          ))}
        </List>
      </div>
      {report.live_keys.length > 0 && (
        <>
          <Text size="sm">This person made these keys. They work until you revoke them:</Text>
          <LeftKeys left={{ live_keys: report.live_keys, open_invitations: [] }} />
        </>
      )}
      {report.backups.map(({ made_at: madeAt, path, ends_at: endsAt, keep }) => (
        <Text key={`${madeAt} ${path ?? ''}`} size="sm" c="dimmed">
          <Words limit={300}>
            {`The backup of ${madeAt}${path ? ` (${path})` : ''} still holds it${untilOf(endsAt, keep)}.`}
          </Words>
        </Text>
      ))}
      <Button w="fit-content" ml="auto" onClick={onClose}>
        Close
      </Button>
    </Stack>
  );
}

function untilOf(endsAt: string | null, keep: number | null): string {
  if (endsAt !== null) return `, until ${endsAt}`;
  return keep === null ? '' : `, until there are ${keep} newer ones`;
}
