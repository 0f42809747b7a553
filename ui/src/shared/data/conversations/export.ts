import { useMutation } from '@tanstack/react-query';
import { send } from '@/shared/api/client';
import { addressOf, encoded } from '@/shared/api/paths';
import { saveFile } from '@/shared/files/files';
import { inScope, useScope } from '../scope';

export const formats = {
  markdown: { name: 'Markdown', ending: 'md' },
  json: { name: 'JSON', ending: 'json' },
  jsonl: { name: 'JSON lines', ending: 'jsonl' },
  chatml: { name: 'ChatML', ending: 'txt' },
} as const;

export type Format = keyof typeof formats;

/** Saves the conversation as a file that is called after `name`. */
export function useExportConversation(id: string, name: string) {
  const scope = useScope();
  return useMutation({
    mutationFn: async (format: Format) => {
      const path = `/api/conversations/${encoded(id)}/export`;
      const answer = await send(addressOf(path, { ...inScope(scope), format }));
      const words = name.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '');
      saveFile(await answer.blob(), `${words.slice(0, 80) || 'conversation'}.${formats[format].ending}`);
    },
  });
}
