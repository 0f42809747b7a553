"""A walk over a page with the Tab key: which controls it visits, and whether one sees where it is."""

from dataclasses import dataclass

from playwright.async_api import Page

# What a person could use now, in the order of the page: visible, enabled, not taken out of the order by its
# own widget (roving tabindex), one of a group of radio buttons. How each looks without focus is kept for comparison.
_GATHER = """() => {
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable="true"]';
  const isThere = element => {
    const box = element.getBoundingClientRect();
    return element.tabIndex >= 0 && !element.disabled && box.width > 1 && box.height > 1
      && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      && !element.closest('[inert], [aria-hidden="true"]');
  };
  // while a dialog is open, it alone can be used
  const whole = [...document.querySelectorAll('[role="dialog"][aria-modal="true"]')].at(-1) ?? document;
  const groups = new Set();
  const isOneOfMany = element => {
    if (element.type !== 'radio') return false;
    const among = [...document.querySelectorAll(`input[type=radio][name="${CSS.escape(element.name)}"]`)];
    if (among.some(other => other.checked)) return !element.checked;
    const isSeen = groups.has(element.name);
    groups.add(element.name);
    return isSeen;
  };
  const look = element => [element, element.parentElement, element.parentElement?.parentElement]
    .filter(Boolean)
    .map(each => {
      const style = getComputedStyle(each);
      return [style.outlineStyle === 'none' ? '' : style.outline, style.boxShadow, style.borderColor,
        style.backgroundColor, style.textDecorationLine].join('|');
    }).join('\\n');
  const controls = [...whole.querySelectorAll(usable)].filter(isThere).filter(element => !isOneOfMany(element));
  const rest = new Map(controls.map(each => [each, each === document.activeElement ? null : look(each)]));
  window.tabWalk = { look, rest, visited: new Set() };
  return controls.length;
}"""
_NAME = """const nameOf = element => `<${element.tagName.toLowerCase()}> ` + (element.getAttribute('aria-label')
  || element.innerText || element.getAttribute('placeholder') || element.outerHTML).trim().slice(0, 80);"""
_STOP = (
    """async () => {
  """
    + _NAME
    + """
  const at = document.activeElement, { look, rest, visited } = window.tabWalk;
  if (!at || at === document.body) return { state: 'outside' };
  if (visited.has(at)) return { state: 'again' };
  visited.add(at);
  // a border that is on its way to another colour
  await Promise.allSettled(at.parentElement.getAnimations({ subtree: true })
    .filter(each => each.effect?.getTiming().iterations !== Infinity).map(each => each.finished));
  const isSeen = rest.get(at) ? look(at) !== rest.get(at) : at.matches(':focus-visible');
  return { state: 'new', name: nameOf(at), isSeen };
}"""
)
_MISSED = (
    """() => {
  """
    + _NAME
    + """
  const { rest, visited } = window.tabWalk;
  return [...rest.keys()].filter(each => each.isConnected && !visited.has(each)).map(nameOf);
}"""
)


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Names of controls: all that were visited, those where nothing showed the focus, those that were left out."""

    visited: list[str]
    unseen: list[str]
    missed: list[str]


async def tab_through(page: Page, most: int = 400) -> Walk:
    """Press Tab until it comes round, from where the page puts the focus at first."""
    await page.evaluate(_GATHER)
    visited, unseen, outside = [], [], 0
    for _ in range(most):
        await page.keyboard.press("Tab")
        stop = await page.evaluate(_STOP)
        if stop["state"] == "outside":  # the browser's own controls lie between the end and the beginning
            outside += 1
            if outside > 1:
                break
            continue
        if stop["state"] == "again":
            break
        visited.append(stop["name"])
        if not stop["isSeen"]:
            unseen.append(stop["name"])
    return Walk(visited=visited, unseen=unseen, missed=await page.evaluate(_MISSED))
