import { Anchor, Button } from '@mantine/core';
import { useCallback } from 'react';
import { TbFile, TbPhoto } from 'react-icons/tb';
import { saveFile } from '@/shared/files/files';
import { attachmentLink, useFileContent } from '@/shared/data/files/files';
import type { File } from '@/shared/messages/content';
import classes from './Message.module.css';

interface MessageFileProps {
  conversation: string;
  file: File;
}

/** A file that was sent with a message: kept here, or a link to where it is. */
export function MessageFile({ conversation, file }: MessageFileProps) {
  if (file.name) return <Kept conversation={conversation} file={file} name={file.name} />;
  const host = hostOf(file.url);
  return (
    <span className={classes.file}>
      <TbPhoto aria-hidden />
      {host ? (
        <Anchor href={file.url} target="_blank" rel="noopener noreferrer nofollow" title={file.url}>
          {file.label} (open from {host})
        </Anchor>
      ) : (
        file.label
      )}
    </span>
  );
}

function Kept({ conversation, file, name }: MessageFileProps & { name: string }) {
  const { data: content, isError } = useFileContent({ link: attachmentLink(conversation, name) });
  const data = content?.bytes;
  // the bytes have an address as long as the picture is shown
  const show = useCallback(
    (picture: HTMLImageElement | null) => {
      if (!picture || !data) return;
      const address = URL.createObjectURL(data);
      picture.src = address;
      return () => URL.revokeObjectURL(address);
    },
    [data],
  );
  if (data && file.kind === 'image' && data.type.startsWith('image/')) {
    return <img ref={show} alt="Attached" className={classes.picture} />;
  }
  if (isError) return <span className={classes.file}>{file.label}: could not be loaded</span>;
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<TbFile aria-hidden />}
      disabled={!data}
      onClick={() => data && saveFile(data, file.kind === 'document' ? file.label : name)}
    >
      {file.label}
    </Button>
  );
}

function hostOf(url: string): string {
  try {
    const found = new URL(url);
    return found.protocol === 'https:' || found.protocol === 'http:' ? found.host : '';
  } catch {
    return '';
  }
}
