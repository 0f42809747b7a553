import { ActionIcon, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { TbSearch } from 'react-icons/tb';
import { useDialog } from '@/shared/hooks/useDialog';

const Palette = lazy(() => import('./Palette'));
const ShortcutSheet = lazy(() => import('./ShortcutSheet'));

/** Opens the palette, as Ctrl+K does on every page; `?` shows all shortcuts. Both are loaded when they are opened. */
export function PaletteButton() {
  const { shown, open, close } = useDialog<'palette' | 'shortcuts'>();
  const shortcuts = () => open('shortcuts');
  useHotkeys([['mod+K', () => open('palette')]], []); // in text boxes, too
  useHotkeys([
    ['?', shortcuts],
    ['shift+?', shortcuts],
  ]);
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
        {shown === 'palette' && <Palette onClose={close} />}
        {shown === 'shortcuts' && <ShortcutSheet onClose={close} />}
      </Suspense>
    </>
  );
}
