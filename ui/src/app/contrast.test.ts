import { DEFAULT_THEME, luminance } from '@mantine/core';
import { contrast } from './contrast';

const schemes = contrast(DEFAULT_THEME);
const WORDS = [
  '--mantine-color-text',
  '--mantine-color-dimmed',
  '--mantine-color-placeholder',
  '--mantine-color-error',
];
const SURFACES = ['--surface-page', '--mantine-color-body', '--surface-quiet'];

function ratio(one = '', other = ''): number {
  const [less = 0, more = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (more + 0.05) / (less + 0.05);
}

describe.each(['light', 'dark'] as const)('in the %s scheme', scheme => {
  const colours: Record<string, string> = { ...schemes[scheme] };

  it('cards stand out from the page', () => {
    expect(ratio(colours['--mantine-color-body'], colours['--surface-page'])).toBeGreaterThanOrEqual(1.2);
  });

  it.each(WORDS)('%s can be read on every surface', words => {
    for (const surface of SURFACES) expect(ratio(colours[words], colours[surface])).toBeGreaterThanOrEqual(4.5);
  });
});
