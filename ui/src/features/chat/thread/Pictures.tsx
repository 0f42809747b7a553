import { Anchor } from '@mantine/core';
import { useEffect, useMemo } from 'react';
import { TbPhoto, TbPhotoOff } from 'react-icons/tb';
import { useFileContent } from '@/shared/data/files/files';
import { attachmentPath } from './content';
import classes from './Message.module.css';

interface PicturesProps {
  conversation: string;
  urls: string[];
}

/** The pictures of a message: those kept on this server, and links to those elsewhere. */
export function Pictures({ conversation, urls }: PicturesProps) {
  if (urls.length === 0) return null;
  return (
    <div className={classes.pictures}>
      {urls.map((url, at) => {
        const path = attachmentPath(conversation, url);
        return path ? <KeptPicture key={at} path={path} /> : <PictureElsewhere key={at} url={url} />;
      })}
    </div>
  );
}

function KeptPicture({ path }: { path: string }) {
  const { data, isError } = useFileContent({ link: path });
  const bytes = data?.bytes;
  const address = useMemo(() => (bytes?.type.startsWith('image/') ? URL.createObjectURL(bytes) : null), [bytes]);
  useEffect(
    () => () => {
      if (address) URL.revokeObjectURL(address);
    },
    [address],
  );
  if (address) return <img src={address} alt="Attached" className={classes.picture} />;
  return (
    <span className={classes.mark}>
      {isError || bytes ? <TbPhotoOff aria-hidden /> : <TbPhoto aria-hidden />}
      {isError ? 'The picture could not be loaded' : 'Picture'}
    </span>
  );
}

function PictureElsewhere({ url }: { url: string }) {
  const isAddress = /^https?:\/\//i.test(url);
  return (
    <span className={classes.mark}>
      <TbPhoto aria-hidden />
      {isAddress ? (
        <Anchor href={url} target="_blank" rel="noopener noreferrer nofollow" title={url}>
          Picture (open from {new URL(url).host})
        </Anchor>
      ) : (
        'Picture'
      )}
    </span>
  );
}
