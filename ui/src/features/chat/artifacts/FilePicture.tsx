import { useCallback } from 'react';
import { TbPhoto } from 'react-icons/tb';
import { useFileContent } from '@/shared/data/files/files';
import type { ShownFile } from './shownFile';

interface FilePictureProps {
  file: ShownFile;
  /** "" where the words beside it say enough. */
  description: string;
  className?: string | undefined;
}

/** A picture from this server; a sign in its place until it is there, or when it is gone. */
export function FilePicture({ file, description, className }: FilePictureProps) {
  const bytes = useFileContent({ link: file.link }).data?.bytes;
  // the bytes have an address as long as the picture is shown
  const show = useCallback(
    (picture: HTMLImageElement | null) => {
      if (!picture || !bytes) return;
      const address = URL.createObjectURL(bytes);
      picture.src = address;
      return () => URL.revokeObjectURL(address);
    },
    [bytes],
  );
  if (!bytes) return <TbPhoto size={20} aria-hidden />;
  return <img ref={show} alt={description} className={className} />;
}
