"""Whose turn it is in a group chat: a reply bears the name of its speaker, so that all see who speaks.

A client that wants the next turn of one person ends the conversation with the name and a colon. Some models repeat
the name and some do not; of the latter the reply is put under it. A name is up to three words: a longer beginning
with a colon is a sentence.
"""

import re
from collections.abc import Sequence

from mnemoir.workflows.replies.beginnings import Stage

_FIRST = r"\s*[^\W\d_][\w'.-]{0,40}"
_MORE = r" [\w'.-]{1,40}"
_SPEAKER = re.compile(rf"{_FIRST}(?:{_MORE}){{0,2}}:")
_MAY_BECOME_SPEAKER = re.compile(rf"\s*|{_FIRST}(?:{_MORE}){{0,2}}|{_FIRST}(?:{_MORE})? ")


def has_speaker(reply: str) -> bool:
    """Whether a reply begins with somebody's name and a colon."""
    return _SPEAKER.match(reply) is not None


def under(speaker: str) -> Stage:
    """Puts `speaker`, a name with its colon, in front of a reply that bears no name; a blank one stays blank."""

    def stage(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
        if has_speaker(text) or (whole and not text.strip()):
            return text, ()
        if not whole and _MAY_BECOME_SPEAKER.fullmatch(text):
            return text, None
        return f"{speaker} {text.lstrip()}", ()

    return stage
