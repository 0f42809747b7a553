import type { CSSVariablesResolver } from '@mantine/core';

/** Words on their own colour's tint: the library's darkest shades of bright colours stay below 4.5:1 there. */
const WORDS_ON_TINTS = {
  yellow: '#734600',
  orange: '#8a3305',
  lime: '#41600a',
  green: '#1a662a',
  teal: '#056046',
};

/**
 * The surfaces of each scheme, from the page behind everything to the cards on it (the library's body) and what is quiet
 * on a card; and the words that stand on any of them. Card and page differ by at least 1.2:1, words by 4.5:1.
 */
const SURFACES = {
  light: {
    '--surface-page': '#e7ebeb',
    '--mantine-color-body': '#ffffff',
    '--surface-quiet': '#f3f6f6',
    '--border-quiet': '#d5dcdc',
    '--mantine-color-text': '#14181a',
    '--mantine-color-dimmed': '#545c64',
    '--mantine-color-placeholder': '#626a72',
    '--mantine-color-error': '#c02525',
  },
  dark: {
    '--surface-page': '#111416',
    '--mantine-color-body': '#212729',
    '--surface-quiet': '#2a3134',
    '--border-quiet': '#3b4245',
    '--mantine-color-text': '#d6dadc',
    '--mantine-color-dimmed': '#a9b1b8',
    '--mantine-color-placeholder': '#9aa2aa',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-anchor': '#6fd0bf',
  },
};

export const contrast: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...SURFACES.light,
    ...Object.fromEntries(
      Object.entries(WORDS_ON_TINTS).map(([colour, words]) => [`--mantine-color-${colour}-light-color`, words]),
    ),
  },
  dark: SURFACES.dark,
});
