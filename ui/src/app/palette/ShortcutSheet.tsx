import { Checkbox, Modal, Text } from '@mantine/core';
import { KeyCaps } from './KeyCaps';
import { PLACES } from './keys';
import classes from './ShortcutSheet.module.css';
import { singleKeys } from './singleKeys';

/** All shortcuts in two columns where there is room, and the switch for those of single keys. */
export default function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const isOn = singleKeys.useOn();
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className={classes.places}>
        {PLACES.map(([place, shortcuts]) => (
          <section key={place} aria-label={place} className={classes.place}>
            <Text component="h3" size="sm" fw={600} mb={4}>
              {place}
            </Text>
            <dl className={classes.shortcuts}>
              {shortcuts.map(({ keys, effect }) => (
                <div key={effect} className={classes.shortcut}>
                  <dt>{effect}</dt>
                  <dd>
                    <KeyCaps keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <Checkbox
        mt="md"
        label="Shortcuts of letters and signs"
        description="Off, only shortcuts with Ctrl work, and those within a list."
        checked={isOn}
        onChange={event => singleKeys.turn(event.currentTarget.checked)}
      />
    </Modal>
  );
}
