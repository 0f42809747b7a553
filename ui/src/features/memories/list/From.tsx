import type { IconType } from 'react-icons';
import { TbApps, TbFileImport, TbFileText, TbMessage, TbPencil, TbTool } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import type { Memory, Origin } from '@/shared/data/memories/list';
import classes from './list.module.css';

const KINDS: Record<Origin, { Icon: IconType; name: string }> = {
  user: { Icon: TbMessage, name: 'a chat' },
  assistant: { Icon: TbMessage, name: 'a chat' },
  tool: { Icon: TbTool, name: 'a tool' },
  document: { Icon: TbFileText, name: 'a document' },
  import: { Icon: TbFileImport, name: 'an import' },
  api: { Icon: TbApps, name: 'an app' },
  person: { Icon: TbPencil, name: 'by hand' },
};
const MOST_SHOWN = 80; // characters of a title

interface FromProps {
  memory: Memory;
  /** The titles of chats by their ids, as far as they are known. */
  titles: ReadonlyMap<string, string>;
}

/** Where a memory comes from: the chat or the app by its name, else what kind of thing it was. */
export function From({ memory, titles }: FromProps) {
  const { Icon, name } = KINDS[memory.origin ?? 'user'];
  const session = memory.metadata?.session_id;
  const chat = Icon === TbMessage && typeof session === 'string' ? titles.get(session) : undefined;
  return (
    <span className={classes.from}>
      <Icon size={15} aria-hidden />
      <span className={classes.fromName}>
        <Words limit={MOST_SHOWN}>{(chat ?? memory.app_id ?? name).slice(0, MOST_SHOWN)}</Words>
      </span>
    </span>
  );
}
