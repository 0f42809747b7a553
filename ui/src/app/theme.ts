import { createTheme, type MantineColorsTuple, Menu } from '@mantine/core';

const pine: MantineColorsTuple = [
  '#e9f8f5',
  '#d5ede8',
  '#a8dbd1',
  '#78c8b9',
  '#52b8a5',
  '#2a9c89',
  '#14806f',
  '#0b6b5e',
  '#0b5d52',
  '#034f45',
];

/** Contrast of at least 4.5:1 for words, 3:1 for what is not words, in both schemes. */
export const theme = createTheme({
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 7 },
  colors: { pine },
  autoContrast: true,
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'md',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  focusRing: 'auto',
  components: {
    // without it a menu has a child that is no item, which screen readers stumble over
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
  },
});
