import { useEffect, useState } from 'react';
import { TbPhoto } from 'react-icons/tb';
import { useFileContent } from '../api/files-content';
import type { ShownFile } from './shownFile';

interface FilePictureProps {
  file: ShownFile;
  /** "" where the words beside it say enough. */
  description: string;
  className?: string | undefined;
}

/** A picture from this server; a sign in its place until it is there, or when it is gone. */
export function FilePicture({ file, description, className }: FilePictureProps) {
  const { data } = useFileContent(file.link);
  const address = useAddress(data);
  if (!address) return <TbPhoto size={20} aria-hidden />;
  return <img src={address} alt={description} className={className} />;
}

/** An address of bytes in memory, given back when nobody shows them any longer. */
function useAddress(content: Blob | undefined): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (!content) return;
    const made = URL.createObjectURL(content);
    setAddress(made);
    return () => {
      URL.revokeObjectURL(made);
    };
  }, [content]);
  return address;
}
