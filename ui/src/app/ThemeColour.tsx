import { useComputedColorScheme } from '@mantine/core';
import { useEffect } from 'react';
import { COLOURS } from './tokens';

/** Gives what the browser draws around the page the colour of its shell, also where the scheme is not the system's. */
export function ThemeColour() {
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false });
  useEffect(() => {
    const [light = '', dark = ''] = COLOURS['--surface-shell'] ?? [];
    for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]'))
      meta.content = scheme === 'dark' ? dark : light;
  }, [scheme]);
  return null;
}
