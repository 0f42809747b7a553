"""Removal of unwanted beginnings of answers: names, phrases, an echoed time, white space.

Each is removed by a stage, a function of the answer's beginning. While more of the answer could change its result, a
stage waits. A whole answer passes through the same stages without waiting.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

MOST_HELD = 100  # characters held back for matching one list of beginnings
_TIMESTAMP_ECHO = "[Sent less than a minute ago]"
_SPEAKER = "Assistant:"

# takes the beginning, and True for a whole answer; gives the rest, and the stages that replace this one, or None
# when the stage must see more
Stage: TypeAlias = Callable[[str, bool], "tuple[str, Sequence[Stage] | None]"]


def white_space(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
    """Remove leading white space."""
    left = text.lstrip()
    return left, () if left or whole else None


def one_of(beginnings: Sequence[str]) -> Stage:
    """A stage that removes the first matching text, and white space after it. Case-sensitive; ignores empty texts."""
    texts = [text for text in beginnings if text]

    def stage(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
        may_wait = not whole and len(text) < MOST_HELD
        for beginning in texts:
            if text.startswith(beginning):
                return text[len(beginning) :], (white_space,)
            if may_wait and beginning.startswith(text):
                return text, None
        return text, ()

    return stage


speaker_name = one_of([_SPEAKER])


def timestamp_echo(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
    """Remove the relative time of a message sent just now, which models that are shown times often repeat."""
    if text.startswith(_TIMESTAMP_ECHO):
        left = text[len(_TIMESTAMP_ECHO) :]
        return (left.removeprefix(" "), ()) if left or whole else (text, None)
    return text, None if not whole and _TIMESTAMP_ECHO.startswith(text) else ()


def strip_beginning(text: str, stages: Sequence[Stage]) -> str:
    """A whole answer after all stages."""
    return _through(text, stages, whole=True)[0]


class BeginningFilter:
    """`strip_beginning` for a streamed answer."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages
        self._held = ""

    @property
    def passes(self) -> bool:
        """True once all further text is passed on unchanged."""
        return not self._stages

    def feed(self, text: str) -> str:
        """Add a piece; the text that can be passed on now, possibly ""."""
        if not self._stages:
            return text
        self._held, self._stages = _through(self._held + text, self._stages, whole=False)
        return "" if self._stages else self._release()

    def end(self) -> str:
        """The rest of the text at the end of the answer."""
        self._held, self._stages = _through(self._held, self._stages, whole=True)
        return self._release()

    def _release(self) -> str:
        released, self._held = self._held, ""
        return released


def _through(text: str, stages: Sequence[Stage], *, whole: bool) -> tuple[str, Sequence[Stage]]:
    """The rest of the text, and the stages that must see more."""
    while stages:
        text, following = stages[0](text, whole)
        if following is None:
            return text, stages
        stages = (*following, *stages[1:])
    return text, stages
