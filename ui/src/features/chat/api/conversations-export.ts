import { useMutation } from '@tanstack/react-query';
import { send } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { saveFile } from '@/shared/api/saveFile';
import type { Conversation } from './conversations';

const ENDINGS = { markdown: 'md', json: 'json' } as const;

export type ExportFormat = keyof typeof ENDINGS;

/** Downloads a conversation as a file. */
export function useExportConversation() {
  const { user, project } = useSettings();
  return useMutation({
    mutationFn: async ({ conversation, format }: { conversation: Conversation; format: ExportFormat }) => {
      const query = new URLSearchParams({ user_id: user, project, format });
      const answer = await send(
        `/api/conversations/${encodeURIComponent(conversation.id)}/export?${query.toString()}`,
      );
      saveFile(await answer.blob(), `${fileName(conversation)}.${ENDINGS[format]}`);
    },
  });
}

function fileName({ title, preview }: Conversation): string {
  const words = (title ?? preview).replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
  return words.slice(0, 60) || 'conversation';
}
