import { bytes } from './bytes';

const NAMES: Record<string, string> = {
  memories: 'Memories',
  memory_bytes: 'Texts of memories',
  messages: 'Messages',
  attachment_bytes: 'Attachments',
  disk_bytes: 'Disk',
  tokens_day: 'Model tokens today',
  tokens_month: 'Model tokens this month',
  concurrent_chats: 'Chats at once',
};

/** What is counted, in words; a name that is new here as it is. */
export function whatIs(what: string): string {
  return NAMES[what] ?? what;
}

/** An amount of it. */
export function amountOf(what: string, amount: number): string {
  return what.endsWith('_bytes') ? bytes(amount) : amount.toLocaleString();
}
