import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { IconType } from 'react-icons';
import {
  TbBookmark,
  TbBookmarkOff,
  TbDownload,
  TbEdit,
  TbKeyboard,
  TbLink,
  TbMoon,
  TbPlug,
  TbPlus,
  TbSettings,
  TbSun,
  TbUpload,
} from 'react-icons/tb';
import { useNavigate } from 'react-router';
import { notifyFailure } from '@/shared/components/notify';
import { type Right, useMay } from '@/shared/data/access';
import { useExport } from '@/shared/data/memories/transfer';
import { useScope } from '@/shared/data/scope';
import { change, useSettings } from '@/shared/settings/settings';
import { KEYS } from './keys';
import type { PaletteDialog } from './PaletteDialogs';
import { useNewChat } from './useNewChat';

/** Something that the palette does. */
export interface Action {
  name: string;
  /** Other words that it is looked for by. */
  also: string;
  Icon: IconType;
  act: () => unknown;
  right?: Right;
  keys?: readonly string[];
}

/** What the caller may do; `onOpen` opens a dialog when the palette is gone. */
export function useActions(onOpen: (dialog: PaletteDialog | 'shortcuts') => void): Action[] {
  const may = useMay();
  const newChat = useNewChat();
  const navigate = useNavigate();
  const memory = useMemoryAction();
  const look = useLookAction();
  const save = useExport(useScope());
  const fail = (error: unknown) => notifyFailure('Could not export the memories', error);
  const actions: Action[] = [
    { name: 'New chat', also: 'begin start', Icon: TbEdit, act: newChat, right: 'write', keys: KEYS.newChat },
    { name: 'Add a memory', also: 'new remember fact', Icon: TbPlus, act: () => onOpen('add'), right: 'write' },
    memory,
    look,
    { name: 'Settings', also: 'preferences user project key', Icon: TbSettings, act: () => onOpen('settings') },
    { name: 'Import chats', also: 'conversations', Icon: TbUpload, act: () => onOpen('importChats'), right: 'admin' },
    { name: 'Import memories', also: 'jsonl', Icon: TbUpload, act: () => onOpen('importMemories'), right: 'admin' },
    {
      name: 'Export memories',
      also: 'download save backup',
      Icon: TbDownload,
      act: () => save.mutate(undefined, { onError: fail }),
      right: 'read',
    },
    { name: 'Connect a model', also: 'language llm', Icon: TbPlug, act: () => navigate('/connect?part=model') },
    { name: 'Copy link', also: 'address url share', Icon: TbLink, act: copyAddress },
    {
      name: 'Keyboard shortcuts',
      also: 'keys help',
      Icon: TbKeyboard,
      act: () => onOpen('shortcuts'),
      keys: KEYS.sheet,
    },
  ];
  return actions.filter(({ right }) => right === undefined || may[right]);
}

function useMemoryAction(): Action {
  const { memoryEnabled: isOn } = useSettings();
  return {
    name: isOn ? 'Turn memory off' : 'Turn memory on',
    also: 'long term remember switch',
    Icon: isOn ? TbBookmarkOff : TbBookmark,
    act: () => {
      change.memoryEnabled(!isOn);
      notifications.show({ message: isOn ? 'Memory is off' : 'Memory is on' });
    },
  };
}

function useLookAction(): Action {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return {
    name: isDark ? 'Light appearance' : 'Dark appearance',
    also: 'theme colour color scheme mode',
    Icon: isDark ? TbSun : TbMoon,
    act: () => setColorScheme(isDark ? 'light' : 'dark'),
  };
}

async function copyAddress(): Promise<void> {
  try {
    await navigator.clipboard.writeText(window.location.href); // missing on pages without TLS
    notifications.show({ message: 'Link copied' });
  } catch {
    const reason = new Error('The browser did not allow it. Copy the address from its address bar.');
    notifyFailure('The link was not copied', reason);
  }
}
