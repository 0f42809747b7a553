import type { CSSVariablesResolver } from '@mantine/core';

/** Words on their own colour's tint: the library's darkest shades of bright colours stay below 4.5:1 there. */
const WORDS_ON_TINTS = {
  yellow: '#734600',
  orange: '#8a3305',
  lime: '#41600a',
  green: '#1a662a',
  teal: '#056046',
};

export const contrast: CSSVariablesResolver = () => ({
  variables: {},
  light: Object.fromEntries(
    Object.entries(WORDS_ON_TINTS).map(([colour, words]) => [`--mantine-color-${colour}-light-color`, words]),
  ),
  dark: {},
});
