import { createTheme, type CSSVariablesResolver, Menu } from '@mantine/core';
import { COLOURS, dark, gray, MOTION, pine, RADII, SPACING, TYPE } from './tokens';

/** Contrast of at least 4.5:1 for words, 3:1 for what is not words, in both schemes. */
export const theme = createTheme({
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 7 },
  colors: { pine, gray, dark },
  autoContrast: true,
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: TYPE.small, sm: TYPE.text, md: TYPE.lead, lg: TYPE.lead, xl: TYPE.title },
  headings: { fontWeight: '600', sizes: headings() },
  spacing: SPACING,
  radius: { xs: RADII.mark, sm: RADII.mark, md: RADII.control, lg: RADII.card, xl: RADII.round },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  focusRing: 'auto',
  components: {
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // without it a menu has a child that is no item, which screen readers stumble over
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
  },
});

/** The tokens as variables of CSS. */
export const variables: CSSVariablesResolver = () => ({
  variables: {
    ...MOTION,
    ...named('--type', TYPE),
    ...named('--radius', RADII),
  },
  light: Object.fromEntries(Object.entries(COLOURS).map(([name, [light]]) => [name, light])),
  dark: Object.fromEntries(Object.entries(COLOURS).map(([name, [, dark]]) => [name, dark])),
});

function named(prefix: string, values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}-${name}`, value]));
}

function headings() {
  const title = { fontSize: TYPE.title, lineHeight: '1.3' };
  const section = { fontSize: TYPE.lead, lineHeight: '1.4' };
  return {
    h1: title,
    h2: title,
    h3: title,
    h4: section,
    h5: section,
    h6: { fontSize: TYPE.text, lineHeight: '1.4' },
  };
}
