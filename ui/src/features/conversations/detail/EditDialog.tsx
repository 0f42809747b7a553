import { Button, Group, Modal, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { useChangeConversation } from '@/shared/data/conversations/conversation';
import type { Conversation } from '@/shared/data/conversations/list';

interface EditDialogProps {
  conversation: Conversation;
  onClose: () => void;
}

/** Title, tags, and whether pruning leaves the conversation alone. */
export function EditDialog({ conversation, onClose }: EditDialogProps) {
  const [title, setTitle] = useState(conversation.title ?? '');
  const [tags, setTags] = useState(conversation.tags);
  const [keep, setKeep] = useState(conversation.custom.keep === true);
  const { mutate, isPending, error } = useChangeConversation(conversation.id);
  const save = (event: SyntheticEvent) => {
    event.preventDefault();
    mutate({ title: title.trim() || null, tags, keep }, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title="Conversation details" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={save}>
        <Stack>
          <TextInput
            label="Title"
            placeholder={conversation.preview || conversation.id}
            maxLength={1000}
            value={title}
            onChange={event => setTitle(event.currentTarget.value)}
            data-autofocus
          />
          <TagsInput label="Tags" maxTags={100} value={tags} onChange={setTags} />
          <Switch
            label="Keep"
            description="Not deleted when old conversations are cleaned up."
            checked={keep}
            onChange={event => setKeep(event.currentTarget.checked)}
          />
          {error && <ErrorState error={error} title="Could not save" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
