"""The phrases of one language, as regular expressions that ignore case.

They are whole phrases, because single words ("decision", "name") are as frequent in small talk as in important
messages. Texts may be long and arbitrary, so no expression repeats a repetition, and gaps are bounded.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cues:
    """Phrases by kind. `small_talk` matches a message made of such phrases only; the others match anywhere in it."""

    remember: tuple[str, ...]
    decision: tuple[str, ...]
    fact: tuple[str, ...]
    correction: tuple[str, ...]
    offer: tuple[str, ...]  # an assistant's phrases that resemble commitments
    small_talk: tuple[str, ...]
