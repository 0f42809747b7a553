import { Button, Text } from '@mantine/core';
import { TbPhoto } from 'react-icons/tb';
import type { ReactNode } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useConversationFiles, useFiles } from '@/shared/data/files/files';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import classes from './artifacts.module.css';
import { type ShownFile, shownAttachment, shownProjectFile } from './shownFile';
import { FileRow } from './FileRow';

/** Files in three parts: of this chat, of the project, and of other chats. */
export function FileList() {
  const { params } = useAddressParams();
  const current = params.get('conversation');
  const ofChat = useConversationFiles(current);
  const all = useFiles();

  if (all.isPending) return <LoadingState label="Loading files" />;
  if (all.isError) return <ErrorState error={all.error} onRetry={() => void all.refetch()} />;
  const here = (ofChat.data ?? []).map(shownAttachment);
  const project = all.projectFiles.map(shownProjectFile);
  const elsewhere = all.attachments.filter(file => file.conversation_id !== current).map(shownAttachment);
  if (!here.length && !project.length && !elsewhere.length && !all.hasNextPage)
    return <EmptyState Icon={TbPhoto} title="No files yet" hint="Pictures you send in a chat are listed here." />;
  return (
    <>
      {current !== null && (
        <Part title="This chat" files={here}>
          {!here.length && (
            <Text size="sm" c="dimmed">
              No files yet.
            </Text>
          )}
        </Part>
      )}
      {project.length > 0 && <Part title="Project" files={project} />}
      {(elsewhere.length > 0 || all.hasNextPage) && (
        <Part title={current === null ? 'Chats' : 'Other chats'} files={elsewhere}>
          {all.hasNextPage && (
            <Button
              size="xs"
              variant="default"
              fullWidth
              loading={all.isFetchingNextPage}
              onClick={() => void all.fetchNextPage()}
            >
              Show older
            </Button>
          )}
        </Part>
      )}
    </>
  );
}

function Part({ title, files, children }: { title: string; files: ShownFile[]; children?: ReactNode }) {
  return (
    <section className={classes.section} aria-label={title}>
      <Text component="h2" className={classes.heading}>
        {title}
      </Text>
      {files.map(file => (
        <FileRow key={file.key} file={file} />
      ))}
      {children}
    </section>
  );
}
