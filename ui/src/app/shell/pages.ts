import type { IconType } from 'react-icons';
import { TbActivity, TbBrain, TbGitFork, TbHeartbeat, TbKey, TbMessage, TbMessages, TbPlug } from 'react-icons/tb';
import { useAbout } from '@/shared/data/about';
import { type Right, useMay } from '@/shared/data/access';

export interface Page {
  path: string;
  name: string;
  Icon: IconType;
  /** What the caller's key must allow; any key will do where it is left out. */
  right?: Right;
}

const KEYS = '/keys';

export const pages: Page[] = [
  { path: '/', name: 'Chat', Icon: TbMessage, right: 'read' },
  { path: '/memories', name: 'Memories', Icon: TbBrain, right: 'read' },
  { path: '/conversations', name: 'Conversations', Icon: TbMessages, right: 'read' },
  { path: '/runs', name: 'Runs', Icon: TbActivity, right: 'read' },
  { path: '/workflows', name: 'Workflows', Icon: TbGitFork, right: 'admin' },
  { path: '/connect', name: 'Connect', Icon: TbPlug },
  { path: KEYS, name: 'Keys', Icon: TbKey, right: 'manage' },
  { path: '/status', name: 'Status', Icon: TbHeartbeat, right: 'server' },
];

/** The pages that the caller may see. */
export function useAllowedPages(): Page[] {
  const may = useMay();
  return pages.filter(({ right }) => right === undefined || may[right]);
}

/** Those of them that the navigation names: keys are of no interest where none is needed. */
export function useListedPages(): Page[] {
  const needsKey = useAbout().data?.needs_key ?? false;
  return useAllowedPages().filter(({ path }) => needsKey || path !== KEYS);
}
