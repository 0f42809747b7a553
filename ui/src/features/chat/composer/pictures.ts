import type { Place } from '@/shared/data/scope';
import { fileAt } from '@/shared/data/files/files';
import { dataUrlOf } from '@/shared/files/files';
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
      const link = attachmentPath(place.conversation, url);
      return link ? dataUrlOf(await fileAt(place, link)) : url;
    }),
  );
}
