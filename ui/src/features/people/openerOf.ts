/** The button that the menu of an entry belongs to. */
export function openerOf(item: HTMLElement): HTMLElement | null {
  const menu = item.closest('[role="menu"]');
  return menu && document.querySelector<HTMLElement>(`[aria-controls="${CSS.escape(menu.id)}"]`);
}
