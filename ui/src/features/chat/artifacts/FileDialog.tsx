import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { TbDownload, TbMessage } from 'react-icons/tb';
import { Link } from 'react-router';
import { saveFile } from '@/shared/files/files';
import { CodeBlock } from '@/shared/components/CodeBlock';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { useFileContent } from '@/shared/data/files/files';
import classes from './artifacts.module.css';
import { FilePicture } from './FilePicture';
import { isPicture, isText, type ShownFile, sizeOf } from './shownFile';

const MOST_SHOWN = 200_000; // characters

interface FileDialogProps {
  file: ShownFile;
  opened: boolean;
  onClose: () => void;
}

/** A file: pictures and texts are shown, all can be downloaded. */
export function FileDialog({ file, opened, onClose }: FileDialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={<Words>{file.name}</Words>}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Content file={file} onFollowed={onClose} />
    </Modal>
  );
}

function Content({ file, onFollowed }: { file: ShownFile; onFollowed: () => void }) {
  const content = useFileContent({ link: file.link, isText: isText(file.type) });
  return (
    <Stack>
      {content.isPending && <LoadingState label="Loading file" />}
      {content.isError && <ErrorState error={content.error} onRetry={() => void content.refetch()} />}
      {content.data && isPicture(file.type) && (
        <FilePicture file={file} description={file.name} className={classes.picture} />
      )}
      {content.data?.text != null && (
        <CodeBlock
          text={content.data.text.slice(0, MOST_SHOWN)}
          language={file.type === 'application/json' ? 'json' : 'text'}
        />
      )}
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {file.type}, {sizeOf(file.bytes)}
        </Text>
        <Group gap="xs">
          {file.conversation !== null && (
            <Button
              component={Link}
              to={`/?${new URLSearchParams({ conversation: file.conversation }).toString()}`}
              onClick={onFollowed}
              variant="default"
              size="xs"
              leftSection={<TbMessage size={16} aria-hidden />}
            >
              Go to chat
            </Button>
          )}
          <Button
            size="xs"
            disabled={!content.data}
            leftSection={<TbDownload size={16} aria-hidden />}
            onClick={() => content.data && saveFile(content.data.bytes, downloadName(file))}
          >
            Download
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}

/** The name with the ending that its bytes ask for. */
function downloadName({ name, link }: ShownFile): string {
  const last = decodeURIComponent(link.slice(link.lastIndexOf('/') + 1));
  const own = name.slice(name.lastIndexOf('/') + 1);
  const ending = last.slice(last.lastIndexOf('.'));
  return own.endsWith(ending) ? own : `${own}${ending}`;
}
