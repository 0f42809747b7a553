const SEARCHES = 'main :is(input[type=search], [role=search] input)';
const GRID_ROW = '[role=grid] [role=row][tabindex="0"]';
const LISTS = '[role=grid], [data-rows]';

/** Puts the focus into the search of the page; false where it has none in sight. */
export function focusSearch(): boolean {
  const field = [...document.querySelectorAll<HTMLInputElement>(SEARCHES)].find(isShown);
  field?.select();
  field?.focus();
  return field !== undefined;
}

/** Goes on in the list that has the focus as its arrow key does, else to the first row of the page's list. */
export function focusRow(arrow: 'ArrowDown' | 'ArrowUp'): boolean {
  const at = document.activeElement;
  if (at?.closest(LISTS)) {
    at.dispatchEvent(new KeyboardEvent('keydown', { key: arrow, bubbles: true, cancelable: true }));
    return true;
  }
  const rows = document.querySelectorAll<HTMLElement>(`main :is(${GRID_ROW}, [data-rows] [data-row])`);
  const first = [...rows].find(isShown);
  first?.focus();
  return first !== undefined;
}

const isShown = (element: Element) => element.checkVisibility({ visibilityProperty: true });
