"""Removal of a model's thinking from its answer, whole or streamed.

Tags are literal and match in any case. Only the first block is thinking, and only if it begins early: a later tag is
part of the answer's own text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from mnemoir.core.events import Passed


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingRule:
    """The tags around a model's thinking. Neither tag is empty.

    `grace_characters` is the last position at which the start tag may begin. With `only_closing_tag`, answers begin
    with thinking that has no start tag.
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
    """The text without its thinking; unchanged when the thinking has no end tag."""
    thinking = ThinkingFilter(rule)
    return thinking.feed(text) + thinking.end()


def without_thinking(text: str) -> str:
    """A model's answer without the thinking in front of it, for any model, regardless of endpoint settings.

    "" for thinking without an end tag: the answer itself is missing.
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
    """`remove_thinking` for a streamed answer.

    Text is held back only while it could be part of a start tag, or is thinking without its end tag so far. Held text
    is searched once, however long it grows.
    """

    def __init__(self, rule: ThinkingRule) -> None:
        self._rule = rule
        self._start, self._end = _literal(rule.start_tag), _literal(rule.end_tag)
        self._begun = _beginning_pattern(rule.start_tag)
        self._held: list[str] = []
        self._tail = ""  # the end of the held text, in which an end tag may have begun
        self._passed_on = 0  # characters
        self._take: Callable[[str], str] = self._think if rule.only_closing_tag else self._scan

    @property
    def passes(self) -> bool:
        """True once all further text is passed on unchanged."""
        return self._take is _same_text

    def feed(self, text: str) -> str:
        """Add a piece; the text that can be passed on now, possibly ""."""
        return self._take(text)

    def end(self) -> str:
        """The text still held at the end of the answer: thinking without an end tag is part of the answer."""
        held, self._held = "".join(self._held), []
        self._take = _same_text
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
        self._take = _same_text
        return text


def _same_text(text: str) -> str:
    return text


@lru_cache(maxsize=64)
def _literal(tag: str) -> re.Pattern[str]:
    return re.compile(re.escape(tag), re.IGNORECASE)


@lru_cache(maxsize=64)
def _beginning_pattern(tag: str) -> re.Pattern[str]:
    """A pattern for the longest beginning of the tag at the end of a text; it may match nothing."""
    beginnings = [re.escape(tag[:length]) for length in reversed(range(len(tag)))]
    return re.compile(rf"(?:{'|'.join(beginnings)})\Z", re.IGNORECASE)


def without_thinking_members(passed: Passed) -> Passed:
    """The passed members without those of the message that hold thinking, which servers name `reasoning…`."""
    message = {name: value for name, value in (passed.message or {}).items() if not name.startswith("reasoning")}
    return replace(passed, message=message or None)
