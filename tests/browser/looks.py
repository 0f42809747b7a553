"""What a page looks like, measured in the browser: sizes of type, targets, what is disabled, and colours.

Left out, because what they draw is not the page's own: code and JSON (their editor sets lines by its own rules),
formulas (TeX scales by the depth of a term), and the words within pictures: charts, the map and graphs of workflows,
which are scaled as a whole. What only a screen reader is to read has neither a size nor a target.

A target may be smaller than 24 by 24 pixels by three of the exceptions of WCAG 2.2, 2.5.8. *Inline*: a link or button
in a line of text has the height of the line. *Equivalent*: a box whose label can be hit, too, is as large as both
together. *User agent*: a part that the browser draws by itself, such as the arrows of a number. Its exception for
targets with room around them is not used: a finger hits what is large.
"""

import re
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Page

from tests.browser_kit import ROOT

MOST_SIZES = 4


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a page has on it: sizes of type in pixels, and whatever breaks a rule, by its name and place."""

    sizes: dict[str, str]  # and one place of each
    small: list[str]
    flat: list[str]
    strays: list[str]

    def wrongs(self) -> dict[str, Any]:
        """What is not as it should be, by the rule; empty on a page that is right."""
        found = {
            f"more than {MOST_SIZES} sizes of type": self.sizes if len(self.sizes) > MOST_SIZES else {},
            "targets under 24 pixels": self.small,
            "disabled without an edge": self.flat,
            "colours that are no tokens": self.strays,
        }
        return {rule: places for rule, places in found.items() if places}


async def measured(page: Page) -> Look:
    """How the page looks now, all that can be scrolled to included."""
    return Look(**await page.evaluate(_MEASURE, _tokens()))


def _tokens() -> list[str]:
    """Every colour that the tokens name, as six digits: one that lets its ground through is that colour, too."""
    text = (ROOT / "ui" / "src" / "app" / "tokens.ts").read_text("utf-8")
    return sorted({found[:7] for found in re.findall(r"'(#[0-9a-f]{6,8})'", text)})


# what is on its way to another colour is measured where it arrives
_MEASURE = r"""async tokens => {
  await Promise.allSettled(document.getAnimations()
    .filter(animation => animation.effect?.getTiming().iterations !== Infinity)
    .map(animation => animation.finished));
  const NOT_OURS = 'pre, code, math, svg, canvas, .katex, .cm-editor, .react-flow';
  const TARGETS = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=tab],'
    + '[role=option], [role=menuitem], [role=switch], [role=slider], [role=checkbox], [role=radio]';
  const place = element => {
    const words = element.getAttribute('aria-label') || element.textContent || element.getAttribute('placeholder');
    const classes = (element.getAttribute('class') ?? '').slice(0, 90);
    return `<${element.tagName.toLowerCase()} class="${classes}"> ${(words ?? '').trim().slice(0, 40)}`;
  };
  const isSeen = element => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1
      && element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  };
  const seen = [...document.body.querySelectorAll('*')].filter(isSeen);
  const says = element => [...element.childNodes].some(each => each.nodeType === Node.TEXT_NODE && each.data.trim())
    || (element.matches('input, textarea, select') && (element.value || element.placeholder)
      && !element.matches('[type=checkbox], [type=radio], [type=range], [type=file]'));

  const sizes = {};
  for (const each of seen)
    if (says(each) && !each.closest(NOT_OURS)) sizes[getComputedStyle(each).fontSize] ??= place(each);

  const extent = element => {
    const boxes = [element, ...(element.labels ?? [])].map(each => each.getBoundingClientRect());
    return [
      Math.max(...boxes.map(box => box.right)) - Math.min(...boxes.map(box => box.left)),
      Math.max(...boxes.map(box => box.bottom)) - Math.min(...boxes.map(box => box.top)),
    ];
  };
  const isInline = element => getComputedStyle(element).display === 'inline';
  const small = [];
  for (const each of seen) {
    if (!each.matches(TARGETS) || each.disabled || each.closest('[inert], [aria-hidden=true], .cm-editor')) continue;
    const [width, height] = extent(each);
    if (!isInline(each) && Math.min(width, height) < 23.95)
      small.push(`${width.toFixed(1)} × ${height.toFixed(1)} ${place(each)}`);
  }

  const isClear = colour => colour === 'transparent' || /, 0\)$/.test(colour);
  const hasEdge = element => {
    const style = getComputedStyle(element);
    const isDrawn = parseFloat(style.borderTopWidth) >= 1 && style.borderTopStyle !== 'none';
    return (isDrawn && !isClear(style.borderTopColor)) || style.boxShadow !== 'none';
  };
  const isQuiet = element => isClear(getComputedStyle(element).backgroundColor);
  const DISABLED = ':is(button, input, select, textarea):disabled, [data-disabled], [aria-disabled=true]';
  const flat = seen
    .filter(each => each.matches(DISABLED))
    .filter(each => !each.matches('[data-loading], option, [role=option], [role=menuitem]'))
    .filter(each => !hasEdge(each) && !isQuiet(each))
    .map(place);

  const known = new Set(tokens);
  const digits = colour => {
    const numbers = (colour.match(/[\d.]+/g) ?? []).map(Number);
    const isMixed = colour.startsWith('color(srgb '); // by the library: of a token, and how much its ground shows
    const scale = isMixed ? 255 : 1;
    const [red, green, blue] = numbers.slice(0, 3).map(each => Math.round(each * scale));
    const opacity = numbers[3] ?? 1;
    if (!isMixed && !/^rgba?\(/.test(colour)) return /^(none|transparent|url\(.*)$/.test(colour) ? null : colour;
    return opacity === 0 ? null : '#' + [red, green, blue].map(each => each.toString(16).padStart(2, '0')).join('');
  };
  const strays = new Map();
  const judge = (element, what, colour) => {
    const shown = digits(colour);
    if (shown !== null && !known.has(shown)) strays.set(`${what} ${shown}`, `${what} ${shown} ${place(element)}`);
  };
  for (const each of seen) {
    const style = getComputedStyle(each);
    if (says(each)) judge(each, 'color', style.color);
    judge(each, 'background', style.backgroundColor);
    for (const side of ['Top', 'Right', 'Bottom', 'Left'])
      if (parseFloat(style[`border${side}Width`]) > 0 && style[`border${side}Style`] !== 'none')
        judge(each, 'border', style[`border${side}Color`]);
    if (each instanceof SVGGeometryElement && !each.closest('mask, clipPath, defs')) {
      judge(each, 'fill', style.fill);
      if (style.stroke !== 'none') judge(each, 'stroke', style.stroke);
    }
  }
  return { sizes, small: [...new Set(small)], flat: [...new Set(flat)], strays: [...strays.values()] };
}"""
