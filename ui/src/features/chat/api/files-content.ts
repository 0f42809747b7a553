import { useQuery } from '@tanstack/react-query';
import { send } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { FILES } from './files';

/** A file's bytes, and its words if it is a text. */
export interface FileContent {
  bytes: Blob;
  text: string | null;
}

interface Wanted {
  link: string;
  isText?: boolean;
}

/** A file by its link. A browser does not send the key with an address alone, so pictures come this way, too. */
export function useFileContent({ link, isText = false }: Wanted) {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...FILES, 'content', user, project, link],
    queryFn: async ({ signal }): Promise<FileContent> => {
      const query = new URLSearchParams({ user_id: user, project });
      const bytes = await (await send(`${link}?${query.toString()}`, { signal })).blob();
      return { bytes, text: isText ? await bytes.text() : null };
    },
    staleTime: 60_000,
    gcTime: 60_000,
  });
}
