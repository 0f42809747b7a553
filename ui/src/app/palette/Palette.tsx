import { Modal, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { SearchList } from '@/shared/components/SearchList';
import { Words } from '@/shared/components/Words';
import { type Entry, useEntries } from './entries';
import { KeyCaps } from './KeyCaps';
import classes from './Palette.module.css';
import type { PaletteDialog } from './PaletteDialogs';

interface PaletteProps {
  onClose: () => void;
  onOpen: (dialog: PaletteDialog | 'shortcuts') => void;
}

/** One box for what can be done, pages, and what is stored. Arrows move, Enter acts. */
export default function Palette({ onClose, onOpen }: PaletteProps) {
  const [typed, setTyped] = useState('');
  const { entries, isSearching } = useEntries(typed, onOpen);
  const choose = (entry: Entry) => {
    onClose(); // the focus is back before a dialog opens
    entry.act();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="12vh"
      title={<VisuallyHidden>Search, go and do</VisuallyHidden>}
      classNames={{ header: classes.header ?? '' }}
      transitionProps={{ duration: 0 }}
    >
      <SearchList
        label="Search actions, pages, chats…"
        listLabel="Results"
        typed={typed}
        onTyped={setTyped}
        items={entries}
        keyOf={entry => entry.key}
        groupOf={entry => entry.group}
        isSearching={isSearching}
        onChoose={choose}
      >
        {entry => (
          <>
            <entry.Icon size={17} aria-hidden className={classes.icon} />
            <span className={classes.name}>
              <Words limit={160}>{entry.name}</Words>
            </span>
            {entry.keys && <KeyCaps keys={entry.keys} />}
          </>
        )}
      </SearchList>
    </Modal>
  );
}
