import { useMediaQuery } from '@mantine/hooks';
import { storedText } from '@/shared/settings/storage';
import { WIDE } from '../artifacts/artifactsList';

const pin = storedText('mnemoirMemoryPinned');

/** Whether the memories stand beside the chat: remembered, and only where there is room. */
export function useMemoryPin() {
  const isWide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const isPinned = pin.use() === 'true';
  return { isWide, isDocked: isWide && isPinned, dock: () => pin.write('true'), undock: () => pin.write(null) };
}
