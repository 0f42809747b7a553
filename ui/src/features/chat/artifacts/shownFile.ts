import type { Attachment, ProjectFile } from '@/shared/data/files/files';

/** A file as the list shows it, wherever it comes from. */
export interface ShownFile {
  key: string;
  name: string;
  link: string;
  type: string;
  bytes: number;
  at: string | null;
  /** Of an attachment. */
  conversation: string | null;
}

export function shownAttachment(file: Attachment): ShownFile {
  return {
    key: `${file.conversation_id}/${String(file.message_id)}/${file.name}`,
    name: file.filename ?? kindOf(file.mime_type),
    link: file.link,
    type: file.mime_type,
    bytes: file.bytes,
    at: file.created_at,
    conversation: file.conversation_id,
  };
}

export function shownProjectFile(file: ProjectFile): ShownFile {
  return {
    key: file.name,
    name: file.name,
    link: file.link,
    type: file.mime_type,
    bytes: file.bytes,
    at: file.modified_at,
    conversation: null,
  };
}

const UNITS = ['B', 'kB', 'MB'] as const;

/** What a browser is sure to show as a picture. */
export const isPicture = (type: string) => /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type);

/** What is shown as text. */
export const isText = (type: string) => type.startsWith('text/') || type === 'application/json';

/** `1.2 MB` */
export function sizeOf(bytes: number): string {
  const at = bytes < 1000 ? 0 : bytes < 1_000_000 ? 1 : 2;
  const number = (bytes / 1000 ** at).toLocaleString(undefined, { maximumFractionDigits: at ? 1 : 0 });
  return `${number} ${UNITS[at]}`;
}

/** "PNG picture" for a file that its sender gave no name. */
function kindOf(type: string): string {
  const [kind = '', ending = ''] = type.split('/');
  const kinds: Record<string, string> = { image: 'picture', audio: 'sound', video: 'film', text: 'text' };
  const known = kinds[kind];
  if (known) return `${ending.toUpperCase()} ${known}`;
  return ending === 'pdf' ? 'PDF' : 'File';
}
