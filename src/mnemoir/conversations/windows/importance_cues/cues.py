"""The cues of one language: whole phrases, as regular expressions without regard to case.

Single words ("decision", "name") are as frequent in small talk as in what matters. A text may be long and anything
may stand in it, so no expression repeats a repetition, and gaps are bounded.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cues:
    """`small_talk` lists what a message of nothing but small talk consists of; the others are looked for anywhere."""

    remember: tuple[str, ...]
    decision: tuple[str, ...]
    fact: tuple[str, ...]
    correction: tuple[str, ...]
    offer: tuple[str, ...]  # what an assistant says that sounds like a commitment and is none
    small_talk: tuple[str, ...]
