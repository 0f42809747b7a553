import { pages } from '../shell/pages';

/** Keys one after the other, or held together, and what they do. */
export interface Shortcut {
  keys: readonly string[];
  effect: string;
}

export const KEYS = {
  palette: ['Ctrl', 'K'],
  newChat: ['Ctrl', 'Shift', 'O'],
  search: ['/'],
  sheet: ['?'],
} as const;

/** The keys that lead to a page, or none. */
export const keysTo = (goKey: string | undefined): readonly string[] => (goKey ? ['g', goKey] : []);

/** All keys that do something, by the place where they do. */
export const PLACES: readonly (readonly [place: string, shortcuts: readonly Shortcut[]])[] = [
  [
    'Everywhere',
    [
      { keys: KEYS.palette, effect: 'Search, go and do' },
      { keys: KEYS.newChat, effect: 'New chat' },
      { keys: KEYS.search, effect: 'Search on the page' },
      { keys: KEYS.sheet, effect: 'Show these shortcuts' },
      { keys: ['Esc'], effect: 'Close what is open' },
    ],
  ],
  ['Go to', pages.flatMap(({ goKey, name }) => (goKey ? [{ keys: keysTo(goKey), effect: name }] : []))],
  [
    'Lists',
    [
      { keys: ['j'], effect: 'Next row, as ↓' },
      { keys: ['k'], effect: 'Previous row, as ↑' },
      { keys: ['Enter'], effect: 'Open' },
    ],
  ],
  [
    'Memories',
    [
      { keys: ['Space'], effect: 'Select' },
      { keys: ['Delete'], effect: 'Delete' },
    ],
  ],
  [
    'Chat',
    [
      { keys: ['Enter'], effect: 'Send' },
      { keys: ['Shift', 'Enter'], effect: 'New line' },
      { keys: ['Esc'], effect: 'Stop the answer' },
      { keys: ['F2'], effect: 'Rename the conversation in the list' },
      { keys: ['Delete'], effect: 'Delete the conversation in the list' },
    ],
  ],
  ['Editing a text', [{ keys: ['Ctrl', 'Enter'], effect: 'Save' }]],
];
