import { useSettings } from '@/shared/settings/settings';
import { LazyMemoryPanel, TITLE } from './LazyMemoryPanel';
import classes from './memory.module.css';
import { useMemoryPin } from './memoryPin';
import { PinButton } from './PinButton';

/** What is known of the user in the project, beside the chat while it is pinned there and memory is on. */
export function DockedMemory() {
  const { memoryEnabled } = useSettings();
  const { isDocked, undock } = useMemoryPin();
  if (!isDocked || !memoryEnabled) return null;
  return (
    <aside className={classes.docked} aria-label={TITLE}>
      <div className={classes.dockedTop}>
        <h2 className={classes.title}>{TITLE}</h2>
        <PinButton isPinned onClick={undock} />
      </div>
      <LazyMemoryPanel />
    </aside>
  );
}
