import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';

export type MemorySettings = components['schemas']['ProjectSettingsAnswer'];
type Changes = components['schemas']['SettingsBody'];

const keyOf = (project: string) => ['memory-settings', project] as const;
const inProject = (project: string) => ({ params: { query: { project } } });

/** How a project remembers, and what extraction is told to keep. */
export function useMemorySettings(project: string) {
  return useQuery({
    queryKey: keyOf(project),
    queryFn: async () => {
      const [settings, extraction] = await Promise.all([
        unwrap(client.GET('/api/memories/settings', inProject(project))),
        unwrap(client.GET('/api/memories/extraction-prompt', inProject(project))),
      ]);
      return { ...settings, ...extraction };
    },
    refetchOnMount: 'always',
  });
}

interface SettingsChange {
  settings?: Changes;
  /** null goes back to the default prompt. */
  prompt?: string | null;
}

/** Changes what is named, one after the other. */
export function useChangeMemorySettings(project: string) {
  return useChange(
    async ({ settings, prompt }: SettingsChange) => {
      if (settings) await unwrap(client.PUT('/api/memories/settings', { ...inProject(project), body: settings }));
      if (prompt === null) await unwrap(client.DELETE('/api/memories/extraction-prompt', inProject(project)));
      else if (prompt !== undefined)
        await unwrap(client.PUT('/api/memories/extraction-prompt', { ...inProject(project), body: { prompt } }));
    },
    [keyOf(project)],
  );
}
