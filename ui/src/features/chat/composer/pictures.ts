import { send } from '@/shared/api/client';
import { dataUrlOf } from '@/shared/files/dataUrl';
import type { Place } from '../api/thread';
import { attachmentPath } from '../thread/content';

/** A picture that is to be sent. `preview` is an address of this page, to be revoked with the picture. */
export interface Attached {
  file: File;
  preview: string;
}

export function attached(files: Iterable<File>): Attached[] {
  return Array.from(files)
    .filter(file => file.type.startsWith('image/'))
    .map(file => ({ file, preview: URL.createObjectURL(file) }));
}

export function detach(pictures: Attached[]): void {
  for (const { preview } of pictures) URL.revokeObjectURL(preview);
}

/** Pictures of a stored message as they are to be sent again; addresses elsewhere stay what they are. */
export function sentAgain(place: Place, urls: string[]): Promise<string[]> {
  return Promise.all(
    urls.map(async url => {
      const path = attachmentPath(place.conversation, url);
      if (!path) return url;
      const query = new URLSearchParams({ user_id: place.user, project: place.project });
      return dataUrlOf(await (await send(`${path}?${query.toString()}`)).blob());
    }),
  );
}
