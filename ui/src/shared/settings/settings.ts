import { useAbout } from '@/shared/data/about';
import { useMe } from '@/shared/data/access';
import { storedText } from './storage';

const memoryEnabled = storedText('memoryEnabled', 'memoryChanged');
const memoryAsked = storedText('memoryAsked');
const user = storedText('mnemoirUser');
const project = storedText('mnemoirProject');
const model = storedText('mnemoirModel');

/**
 * Who uses this browser, in which project, with what. A key that is for one user or some projects decides.
 * `memoryEnabled` is off until it is switched on. */
export interface Settings {
  user: string;
  project: string;
  memoryEnabled: boolean;
  /** "" for the server's choice. */
  model: string;
}

export function useSettings(): Settings {
  const about = useAbout().data;
  const me = useMe();
  const chosenUser = user.use();
  return {
    user: me.user ?? chosenUser ?? about?.user ?? 'user',
    project: within(me.projects, project.use() ?? about?.project ?? 'default'),
    memoryEnabled: memoryEnabled.use() === 'true',
    model: model.use() ?? '',
  };
}

/** The project, or the first of those that the key is for. */
function within(own: readonly string[] | null, project: string): string {
  return own === null || own.includes(project) ? project : (own[0] ?? project);
}

/** Whether the choice about memory was offered and made, in whatever way. */
export function useMemoryChosen(): boolean {
  const chosen = memoryEnabled.use();
  return memoryAsked.use() !== null || chosen !== null;
}

export const change = {
  user: (value: string | null) => user.write(value),
  project: (value: string | null) => project.write(value),
  memoryEnabled: (value: boolean) => memoryEnabled.write(String(value)),
  /** The first choice. Not now leaves memory as it is: off, and not chosen to be. */
  memoryChoice: (isWanted: boolean) => {
    memoryAsked.write('true');
    if (isWanted) memoryEnabled.write('true');
  },
  model: (value: string | null) => model.write(value),
};
