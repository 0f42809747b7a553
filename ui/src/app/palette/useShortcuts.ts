import { useHotkeys } from '@mantine/hooks';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useNavigate } from 'react-router';
import { useAllowedPages } from '../shell/pages';
import { focusRow, focusSearch } from './places';
import { singleKeys } from './singleKeys';
import { useNewChat } from './useNewChat';

const PREFIX = 'g';
const PREFIX_MS = 1500; // how long the next key may take

interface Opening {
  /** Something was opened: it may not have come yet. */
  isOpening: boolean;
  openPalette: () => void;
  openSheet: () => void;
}

/** Makes the shortcuts of all pages work. Letters and signs are left to where one types, and to dialogs. */
export function useShortcuts({ isOpening, openPalette, openSheet }: Opening): void {
  const pages = useAllowedPages();
  const navigate = useNavigate();
  const newChat = useNewChat();
  const prefixed = useRef(-PREFIX_MS); // when the prefix was pressed: never yet, also in the first moment of a page
  useHotkeys(
    [
      ['mod+K', openPalette],
      ['mod+shift+O', () => isOverlaid() || newChat()],
    ],
    [], // in text boxes, too
  );
  const acts: Record<string, () => boolean> = {
    '?': () => done(openSheet),
    '/': () => focusSearch() || done(openPalette),
    j: () => focusRow('ArrowDown'),
    k: () => focusRow('ArrowUp'),
  };
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
    if (!isPlain || event.defaultPrevented || !singleKeys.isOn() || isTyping(event.target)) return;
    if (isOpening || isOverlaid()) return;
    const isSecond = event.timeStamp - prefixed.current < PREFIX_MS;
    prefixed.current = event.key === PREFIX && !isSecond ? event.timeStamp : -PREFIX_MS;
    const page = isSecond ? pages.find(({ goKey }) => goKey === event.key) : undefined;
    if (page) void navigate(page.path);
    if (page || (!isSecond && acts[event.key]?.())) event.preventDefault();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

function done(act: () => void): true {
  act();
  return true;
}

const TYPED_IN =
  'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true], [role=textbox], [role=menu] *';

const isTyping = (target: EventTarget | null) => target instanceof Element && target.matches(TYPED_IN);

const isOverlaid = () => document.querySelector('[aria-modal=true]') !== null;
