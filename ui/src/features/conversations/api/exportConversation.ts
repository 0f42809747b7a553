import { useMutation } from '@tanstack/react-query';
import { send } from '@/shared/api/client';
import { saveFile } from '@/shared/api/saveFile';
import { encoded, useScope } from './scope';

export const formats = {
  markdown: { name: 'Markdown', ending: 'md', hint: 'the thread, to be read' },
  json: { name: 'JSON', ending: 'json', hint: 'all branches and files' },
  jsonl: { name: 'JSON lines', ending: 'jsonl', hint: 'the thread, with files' },
  chatml: { name: 'ChatML', ending: 'txt', hint: 'the thread, as models are trained on' },
} as const;

export type Format = keyof typeof formats;

/** Saves the conversation as a file. */
export function useExportConversation(id: string) {
  const scope = useScope();
  return useMutation({
    mutationFn: async (format: Format) => {
      const query = new URLSearchParams({ ...scope, format }).toString();
      const answer = await send(`/api/conversations/${encoded(id)}/export?${query}`);
      const name = id.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80) || 'conversation';
      saveFile(await answer.blob(), `${name}.${formats[format].ending}`);
    },
  });
}
