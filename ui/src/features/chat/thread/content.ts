import type { Message } from '@/shared/data/conversations/messages';
import { attachmentLink } from '@/shared/data/files/files';
import { attachmentName } from '@/shared/messages/content';

type Content = Message['content'];

export function picturesOf(content: Content): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap(part => (part.type === 'image_url' ? [part.image_url.url] : []));
}

/** What is neither words nor a picture, by what it is called. */
export function otherFilesOf(content: Content): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap(part => {
    if (part.type === 'text' || part.type === 'image_url') return [];
    return [part.type === 'file' ? part.file.filename || 'Document' : part.type.replace('_url', '')];
  });
}

/** The path of a kept picture on this server; null for one that is elsewhere. */
export function attachmentPath(conversation: string, url: string): string | null {
  const name = attachmentName(url);
  return name ? attachmentLink(conversation, name) : null;
}
