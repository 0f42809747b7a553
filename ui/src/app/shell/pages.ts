import type { IconType } from 'react-icons';
import {
  TbActivity,
  TbBrain,
  TbGitFork,
  TbHeartbeat,
  TbHistory,
  TbMessage,
  TbMessages,
  TbPlug,
  TbUserCircle,
  TbUsers,
} from 'react-icons/tb';
import { type Right, useMe } from '@/shared/data/access';

export interface Page {
  path: string;
  name: string;
  Icon: IconType;
  /** What the caller's key must allow; any key will do where it is left out. */
  right?: Right;
  /** The key that leads there behind `g`. */
  goKey?: string;
}

const ACCOUNT = '/account';
const PAST = '/past';

export const pages: Page[] = [
  { path: '/', name: 'Chat', Icon: TbMessage, right: 'read', goKey: 'c' },
  { path: '/memories', name: 'Memories', Icon: TbBrain, right: 'read', goKey: 'm' },
  { path: '/conversations', name: 'Conversations', Icon: TbMessages, right: 'read' },
  { path: '/runs', name: 'Runs', Icon: TbActivity, right: 'read', goKey: 'r' },
  { path: '/workflows', name: 'Workflows', Icon: TbGitFork, right: 'admin', goKey: 'w' },
  { path: '/connect', name: 'Connect', Icon: TbPlug },
  { path: '/keys', name: 'People and keys', Icon: TbUsers, right: 'manage' },
  { path: '/status', name: 'Status', Icon: TbHeartbeat, right: 'server', goKey: 's' },
  { path: PAST, name: 'Bring your past', Icon: TbHistory, right: 'admin' },
  { path: ACCOUNT, name: 'My account', Icon: TbUserCircle },
];

/** The pages that the caller may see; an account belongs to a person. */
export function useAllowedPages(): Page[] {
  const { may, signed_in: isPerson } = useMe();
  return pages.filter(({ path, right }) => (path === ACCOUNT ? isPerson : right === undefined || may[right]));
}

/** Those of them that the navigation names; the others are in menus. */
export function useListedPages(): Page[] {
  return useAllowedPages().filter(({ path }) => path !== ACCOUNT && path !== PAST);
}
