import type { KeyboardEvent } from 'react';

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

/**
 * Arrow keys go from one row (`data-row`) of the lists within to the next one, from anywhere else down to the first.
 * Rows next to one in sight are in the page, too. A list without such rows scrolls.
 */
export function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key];
  if (step === undefined || event.defaultPrevented || !event.currentTarget.contains(event.target as Node)) return; // not from a menu
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex(row => row.closest('[data-index]')?.contains(document.activeElement));
  const next = rows[at < 0 ? 0 : at + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}
