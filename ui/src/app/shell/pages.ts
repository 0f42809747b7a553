import { TbActivity, TbBrain, TbGitFork, TbHeartbeat, TbMessage, TbMessages, TbPlug } from 'react-icons/tb';

export const pages = [
  { path: '/', name: 'Chat', Icon: TbMessage },
  { path: '/memories', name: 'Memories', Icon: TbBrain },
  { path: '/conversations', name: 'Conversations', Icon: TbMessages },
  { path: '/runs', name: 'Runs', Icon: TbActivity },
  { path: '/workflows', name: 'Workflows', Icon: TbGitFork },
  { path: '/connect', name: 'Connect', Icon: TbPlug },
  { path: '/status', name: 'Status', Icon: TbHeartbeat },
];
