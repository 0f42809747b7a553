import { ActionIcon, FileButton, Tooltip } from '@mantine/core';
import { TbPhotoPlus } from 'react-icons/tb';

/** Picks pictures; they can be pasted and dropped as well. */
export function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  return (
    <FileButton multiple accept="image/*" onChange={onFiles} inputProps={{ 'aria-label': 'Pictures to attach' }}>
      {props => (
        <Tooltip label="Attach pictures">
          <ActionIcon {...props} variant="subtle" color="gray" size="lg" radius="xl" aria-label="Attach pictures">
            <TbPhotoPlus size={20} />
          </ActionIcon>
        </Tooltip>
      )}
    </FileButton>
  );
}
