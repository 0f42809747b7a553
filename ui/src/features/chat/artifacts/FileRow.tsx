import { Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { TbFile, TbFileText, TbMusic, TbVideo } from 'react-icons/tb';
import { Time } from '@/shared/components/Time';
import { Pieces } from '@/shared/components/Words';
import classes from './artifacts.module.css';
import { FileDialog } from './FileDialog';
import { FilePicture } from './FilePicture';
import { isPicture, isText, type ShownFile, sizeOf } from './shownFile';

/** A file of the list; a click shows it. */
export function FileRow({ file }: { file: ShownFile }) {
  const [opened, dialog] = useDisclosure(false);
  return (
    <>
      <UnstyledButton className={classes.file ?? ''} onClick={dialog.open} aria-haspopup="dialog">
        <span className={classes.thumbnail}>
          {isPicture(file.type) ? <FilePicture file={file} description="" /> : <Icon type={file.type} />}
        </span>
        <span className={classes.fileWords}>
          <bdi className={classes.fileName}>
            <Pieces text={file.name.slice(0, 200)} />
          </bdi>
          <Text size="xs" c="dimmed" component="span">
            {sizeOf(file.bytes)}
            {file.at && (
              <>
                {' · '}
                <Time value={file.at} ago />
              </>
            )}
          </Text>
        </span>
      </UnstyledButton>
      <FileDialog file={file} opened={opened} onClose={dialog.close} />
    </>
  );
}

function Icon({ type }: { type: string }) {
  if (isText(type)) return <TbFileText size={20} aria-hidden />;
  if (type.startsWith('audio/')) return <TbMusic size={20} aria-hidden />;
  if (type.startsWith('video/')) return <TbVideo size={20} aria-hidden />;
  return <TbFile size={20} aria-hidden />;
}
