import { Kbd, Modal, Table } from '@mantine/core';

const PLACES: [string, [string[], string][]][] = [
  [
    'Everywhere',
    [
      [['Ctrl', 'K'], 'Search pages, chats and memories'],
      [['?'], 'Show these shortcuts'],
      [['Esc'], 'Close what is open'],
    ],
  ],
  [
    'Chat',
    [
      [['Enter'], 'Send'],
      [['Shift', 'Enter'], 'New line'],
      [['Esc'], 'Stop the answer'],
      [['F2'], 'Rename the conversation in the list'],
      [['Delete'], 'Delete the conversation in the list'],
    ],
  ],
  [
    'Memories',
    [
      [['↑', '↓'], 'Move through the list'],
      [['Enter'], 'Open'],
      [['Space'], 'Select'],
      [['Delete'], 'Delete'],
    ],
  ],
  ['Editing a text', [[['Ctrl', 'Enter'], 'Save']]],
];

/** All keys that do something, by the place where they do. */
export default function ShortcutSheet({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Table verticalSpacing={5}>
        {PLACES.map(([place, shortcuts]) => (
          <Table.Tbody key={place}>
            <Table.Tr>
              <Table.Th colSpan={2}>{place}</Table.Th>
            </Table.Tr>
            {shortcuts.map(([keys, effect]) => (
              <Table.Tr key={effect}>
                <Table.Td>{effect}</Table.Td>
                <Table.Td ta="end">
                  {keys.map(key => (
                    <Kbd key={key} ml={4}>
                      {key}
                    </Kbd>
                  ))}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        ))}
      </Table>
    </Modal>
  );
}
