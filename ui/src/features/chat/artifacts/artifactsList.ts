import { storedText } from '@/shared/settings/storage';

const stored = storedText('mnemoirFiles');

/** Whether the list of files is open; remembered. */
export const artifactsList = {
  use: () => stored.use() === 'true',
  close: () => stored.write(null),
  toggle: () => stored.write(stored.read() === 'true' ? null : 'true'),
};
