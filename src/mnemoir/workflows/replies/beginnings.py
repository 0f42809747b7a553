"""What models put before their answers and nobody wants to read: names, phrases, an echoed time, white space.

Each is taken off by a stage. A stage sees the beginning of the answer and says what is left of it; while more of the
answer could change that, it waits. A whole answer goes through the same stages, with nothing more to wait for.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

MOST_HELD = 100  # characters waited for to tell whether one list of beginnings fits
_TIMESTAMP_ECHO = "[Sent less than a minute ago]"
_SPEAKER = "Assistant:"

# of the beginning, and whether it is the whole answer: what is left, and the stages that take this one's place;
# None for those when the stage must see more
Stage: TypeAlias = Callable[[str, bool], "tuple[str, Sequence[Stage] | None]"]


def white_space(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
    """Takes leading white space off."""
    left = text.lstrip()
    return left, () if left or whole else None


def one_of(beginnings: Sequence[str]) -> Stage:
    """Takes off the first of the texts that fits, and white space behind it. Case counts; empty texts do not."""
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
    """Takes off the time of a message written just now, which a model that is shown times likes to repeat."""
    if text.startswith(_TIMESTAMP_ECHO):
        left = text[len(_TIMESTAMP_ECHO) :]
        return (left.removeprefix(" "), ()) if left or whole else (text, None)
    return text, None if not whole and _TIMESTAMP_ECHO.startswith(text) else ()


def strip_beginning(text: str, stages: Sequence[Stage]) -> str:
    """A whole answer without what the stages take off."""
    return _through(text, stages, whole=True)[0]


class BeginningFilter:
    """The same for an answer that comes piece by piece."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages
        self._held = ""

    @property
    def passes(self) -> bool:
        """Whether nothing that comes will be changed any more."""
        return not self._stages

    def feed(self, text: str) -> str:
        """What may be passed on now that `text` has come."""
        if not self._stages:
            return text
        self._held, self._stages = _through(self._held + text, self._stages, whole=False)
        return "" if self._stages else self._release()

    def end(self) -> str:
        """What is left when the answer is over."""
        self._held, self._stages = _through(self._held, self._stages, whole=True)
        return self._release()

    def _release(self) -> str:
        released, self._held = self._held, ""
        return released


def _through(text: str, stages: Sequence[Stage], *, whole: bool) -> tuple[str, Sequence[Stage]]:
    """What is left of the text, and the stages that must see more."""
    while stages:
        text, following = stages[0](text, whole)
        if following is None:
            return text, stages
        stages = (*following, *stages[1:])
    return text, stages
