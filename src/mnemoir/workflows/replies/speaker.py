"""Speakers in group chats: each reply begins with the name of its speaker.

A client that asks for the next turn of one speaker ends the conversation with the name and a colon. Some models
repeat the name; to the replies of others it is added. A name has up to three words: a longer beginning with a colon
is a sentence.
"""

import re
from collections.abc import Sequence

from mnemoir.workflows.replies.beginnings import Stage

_FIRST = r"\s*[^\W\d_][\w'.-]{0,40}"
_MORE = r" [\w'.-]{1,40}"
_SPEAKER = re.compile(rf"{_FIRST}(?:{_MORE}){{0,2}}:")
_MAY_BECOME_SPEAKER = re.compile(rf"\s*|{_FIRST}(?:{_MORE}){{0,2}}|{_FIRST}(?:{_MORE})? ")


def has_speaker(reply: str) -> bool:
    """True when a reply begins with a name and a colon."""
    return _SPEAKER.match(reply) is not None


def under(speaker: str) -> Stage:
    """A stage that puts `speaker`, a name with its colon, before a reply without a name; a blank one stays blank."""

    def stage(text: str, whole: bool) -> tuple[str, Sequence[Stage] | None]:
        if has_speaker(text) or (whole and not text.strip()):
            return text, ()
        if not whole and _MAY_BECOME_SPEAKER.fullmatch(text):
            return text, None
        return f"{speaker} {text.lstrip()}", ()

    return stage
