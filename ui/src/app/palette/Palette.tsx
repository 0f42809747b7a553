import { Modal, Text, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { SearchList } from '@/shared/components/SearchList';
import { Words } from '@/shared/components/Words';
import { type Entry, useEntries } from './entries';
import classes from './Palette.module.css';

/** One box for pages, chats and memories. Arrows move, Enter opens. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const { entries, isSearching } = useEntries(typed);
  const navigate = useNavigate();
  const open = (entry: Entry) => {
    onClose();
    void navigate(entry.to);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="12vh"
      title={<VisuallyHidden>Go to</VisuallyHidden>}
      classNames={{ header: classes.header ?? '' }}
      transitionProps={{ duration: 0 }}
    >
      <SearchList
        label="Search pages, chats and memories"
        listLabel="Results"
        typed={typed}
        onTyped={setTyped}
        items={entries}
        keyOf={entry => entry.key}
        isSearching={isSearching}
        onChoose={open}
      >
        {entry => (
          <>
            <entry.Icon size={17} aria-hidden className={classes.icon} />
            <span className={classes.name}>
              <Words limit={160}>{entry.name}</Words>
            </span>
            <Text span size="xs" c="dimmed">
              {entry.group}
            </Text>
          </>
        )}
      </SearchList>
    </Modal>
  );
}
