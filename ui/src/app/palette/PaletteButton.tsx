import { ActionIcon, Tooltip } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { TbSearch } from 'react-icons/tb';
import { useDialog } from '@/shared/hooks/useDialog';
import type { PaletteDialog } from './PaletteDialogs';
import { useShortcuts } from './useShortcuts';

const Palette = lazy(() => import('./Palette'));
const ShortcutSheet = lazy(() => import('./ShortcutSheet'));
const PaletteDialogs = lazy(() => import('./PaletteDialogs'));

/** Opens the palette, as Ctrl+K does on every page; `?` shows all shortcuts. All are loaded when they are opened. */
export function PaletteButton() {
  const { shown, open, close } = useDialog<'palette' | 'shortcuts' | PaletteDialog>();
  useShortcuts({
    isOpening: shown !== null,
    openPalette: () => open('palette'),
    openSheet: () => open('shortcuts'),
  });
  return (
    <>
      <Tooltip label="Search (Ctrl+K)">
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label="Search everything"
          onClick={() => open('palette')}
        >
          <TbSearch size={19} />
        </ActionIcon>
      </Tooltip>
      <Suspense>
        {shown === 'palette' ? (
          <Palette onClose={close} onOpen={open} />
        ) : shown === 'shortcuts' ? (
          <ShortcutSheet onClose={close} />
        ) : (
          shown && <PaletteDialogs shown={shown} onClose={close} />
        )}
      </Suspense>
    </>
  );
}
