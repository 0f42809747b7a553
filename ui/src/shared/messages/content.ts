import type { Message } from '../data/conversations/messages';

type Content = Message['content'];

/** A file of a message: kept here under `name`, or somewhere else under `url`. */
export interface File {
  kind: 'image' | 'audio' | 'video' | 'document';
  label: string;
  /** The last step of its link, where it is kept here. */
  name: string | null;
  url: string;
}

/** The words of a message, whatever else it holds. */
export function wordsOf(content: Content): string {
  if (!Array.isArray(content)) return content ?? '';
  return content.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n');
}

export function filesOf(content: Content): File[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part): File[] => {
    switch (part.type) {
      case 'text':
        return [];
      case 'image_url':
        return [{ kind: 'image', label: 'Picture', ...placeOf(part.image_url.url) }];
      case 'audio_url':
        return [{ kind: 'audio', label: 'Audio', ...placeOf(part.audio_url.url) }];
      case 'video_url':
        return [{ kind: 'video', label: 'Video', ...placeOf(part.video_url.url) }];
      case 'file':
        return [{ kind: 'document', label: part.file.filename || 'Document', ...placeOf(part.file.file_data) }];
    }
  });
}

function placeOf(url: string) {
  return { url, name: attachmentName(url) };
}

/** The last step of the link to a file that is kept here; null for one that is elsewhere. */
export function attachmentName(url: string): string | null {
  return /^mnemoir:attachments\/[^/]+\/([^/]+)$/.exec(url)?.[1] ?? null;
}

/** A message in a few words, for lists. */
export function gistOf(message: Message): string {
  const words = wordsOf(message.content).trim().slice(0, 300).replace(/\s+/g, ' ');
  if (words) return words;
  if (message.tool_calls?.length) return message.tool_calls.map(call => `Calls ${call.function.name}`).join(', ');
  return (
    filesOf(message.content)
      .map(file => file.label)
      .join(', ') || 'Nothing'
  );
}
