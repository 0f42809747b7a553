import { useQuery } from '@tanstack/react-query';
import { send } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { FILES } from './files';

/** The bytes of a file by its link; a browser does not send the key with an address alone. */
export function useFileContent(link: string, { enabled = true } = {}) {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...FILES, 'content', user, project, link],
    queryFn: ({ signal }) => fileContent(link, user, project, signal),
    enabled,
    staleTime: 60_000,
    gcTime: 60_000,
  });
}

async function fileContent(link: string, user: string, project: string, signal: AbortSignal): Promise<Blob> {
  const query = new URLSearchParams({ user_id: user, project });
  return (await send(`${link}?${query.toString()}`, { signal })).blob();
}
