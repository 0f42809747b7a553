"""A model's thinking, cut out of its answer.

Tags are literal and match in any case. Only the first block counts, and only where it begins early: a tag further
back is something the answer speaks of.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from mnemoir.core.events import Passed


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingRule:
    """How thinking is told from the answer. Neither tag is empty.

    `grace_characters` is the last position at which the start tag may begin. With `only_closing_tag` an answer begins
    in the middle of thinking.
    """

    start_tag: str
    end_tag: str
    grace_characters: int = 100
    only_closing_tag: bool = False


_USUAL = tuple(
    (
        ThinkingRule(start_tag=f"<{name}>", end_tag=f"</{name}>"),
        ThinkingRule(start_tag=f"<{name}>", end_tag=f"</{name}>", only_closing_tag=True),
    )
    for name in ("think", "thinking")
)


def remove_thinking(text: str, rule: ThinkingRule) -> str:
    """The text without its thinking; unchanged where that has no end."""
    thinking = ThinkingFilter(rule)
    return thinking.feed(text) + thinking.end()


def without_thinking(text: str) -> str:
    """What a model wrote, without the thinking in front of it, whether or not its endpoint is set to remove it.

    "" for thinking that has no end: the answer itself never came.
    """
    answer = text.lstrip()
    for whole, rest in _USUAL:
        answer = remove_thinking(answer, whole)
        lowered = answer.lower()
        if lowered.startswith(whole.start_tag):
            return ""
        if whole.end_tag in lowered and whole.start_tag not in lowered:
            answer = remove_thinking(answer, rest)
    return answer.strip()


class ThinkingFilter:
    """The same as `remove_thinking` for an answer that comes piece by piece.

    A piece is held only while it could be part of a start tag, or is thinking whose end has not come. What is held is
    looked through once, however long it grows.
    """

    def __init__(self, rule: ThinkingRule) -> None:
        self._rule = rule
        self._start, self._end = _literal(rule.start_tag), _literal(rule.end_tag)
        self._begun = _begun(rule.start_tag)
        self._held: list[str] = []
        self._tail = ""  # of what is held: the characters an end tag may have begun in
        self._passed_on = 0  # characters
        self._take: Callable[[str], str] = self._think if rule.only_closing_tag else self._scan

    @property
    def passes(self) -> bool:
        """Whether nothing that comes will be changed any more."""
        return self._take is _unchanged

    def feed(self, text: str) -> str:
        """What may be passed on now that `text` has come."""
        return self._take(text)

    def end(self) -> str:
        """What is left when the answer is over: thinking without an end is part of the answer."""
        held, self._held = "".join(self._held), []
        self._take = _unchanged
        return held

    def _scan(self, text: str) -> str:
        text = "".join([*self._held, text])
        latest = self._rule.grace_characters - self._passed_on
        opening = self._start.search(text, 0, max(0, latest + len(self._rule.start_tag)))
        if opening:
            return text[: opening.start()] + self._begin_thinking(opening.group(), text[opening.end() :])
        if len(text) >= latest + len(self._rule.start_tag):
            return self._pass(text)
        return self._hold_possible_tag(text)

    def _hold_possible_tag(self, text: str) -> str:
        begun = self._begun.search(text, max(0, len(text) - len(self._rule.start_tag) + 1))
        free = begun.start() if begun else len(text)
        self._held = [text[free:]]
        self._passed_on += free
        return text[:free]

    def _begin_thinking(self, tag: str, text: str) -> str:
        self._held = [tag]
        self._take = self._think
        return self._think(text)

    def _think(self, text: str) -> str:
        window = self._tail + text
        closing = self._end.search(window)
        if closing:
            return self._pass(window[closing.end() :])
        self._held.append(text)
        self._tail = window[max(0, len(window) - len(self._rule.end_tag) + 1) :]
        return ""

    def _pass(self, text: str) -> str:
        self._held = []
        self._take = _unchanged
        return text


def _unchanged(text: str) -> str:
    return text


@lru_cache(maxsize=64)
def _literal(tag: str) -> re.Pattern[str]:
    return re.compile(re.escape(tag), re.IGNORECASE)


@lru_cache(maxsize=64)
def _begun(tag: str) -> re.Pattern[str]:
    """The beginning of a tag, or nothing, at the end of a text."""
    beginnings = [re.escape(tag[:length]) for length in reversed(range(len(tag)))]
    return re.compile(rf"(?:{'|'.join(beginnings)})\Z", re.IGNORECASE)


def spoken(passed: Passed) -> Passed:
    """The members of an answer without those of its message that hold thinking, which servers name `reasoning…`."""
    message = {name: value for name, value in (passed.message or {}).items() if not name.startswith("reasoning")}
    return replace(passed, message=message or None)
