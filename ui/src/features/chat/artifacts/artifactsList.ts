import { useMediaQuery } from '@mantine/hooks';
import { storedText } from '@/shared/settings/storage';
import { openable } from '../rail/openable';

/** Where rail, thread and a pane have room beside each other. */
export const WIDE = '(min-width: 75rem)';
const pane = storedText('mnemoirFiles');
const drawer = openable();

/** Whether the list of files is shown: as a pane, which is remembered, or where there is no room as a drawer. */
export function useArtifactsList() {
  const isWide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const isPaneOpen = pane.use() === 'true';
  const isDrawerOpen = drawer.use();
  return isWide
    ? {
        isWide,
        opened: isPaneOpen,
        close: () => pane.write(null),
        toggle: () => pane.write(isPaneOpen ? null : 'true'),
      }
    : { isWide, opened: isDrawerOpen, close: drawer.close, toggle: drawer.toggle };
}
