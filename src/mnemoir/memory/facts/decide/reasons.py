"""Reasons for which a new fact may close what a memory tells, checked by rule: a model's word is not enough.

A fact closes a claim that cannot hold beside it, or whose text it repeats. Shared words are no reason: "Works as a
nurse in Graz" closes neither "Lives in Graz" nor "Has a dog in Graz".
"""

import re
from collections.abc import Sequence

from mnemoir.memory.facts.decide.matters import (
    claims_of,
    contradicts,
    has_same_person,
    has_same_subject,
    is_known,
    is_other_value,
    may_replace,
)
from mnemoir.memory.facts.decide.resemblance import is_part_of, words_of

_PLAN = re.compile(r"^(?:plans|wants|hopes|intends|aims|is planning|is going|would like) (?:to|on) ", re.IGNORECASE)
_FEWEST_WORDS = 2  # of a text that counts as repeated


def closes(fact: str, stored: str) -> bool:
    """True when the fact is a reason to delete the memory: both cannot hold, or the fact repeats its text."""
    return contradicts(fact, stored) or is_other_value(fact, stored) or _repeats(fact, stored)


def kept_whole(stored: str, text: str, facts: Sequence[str]) -> str | None:
    """The text of an update with what it must not drop of the memory; None when it drops that without a reason.

    A claim of the memory is dropped with reason when a fact or the new text closes it, or is a new state of the same
    thing. Where one claim is closed, the others are put after the new text.
    """
    lost = [claim for claim in claims_of(stored) if not _is_kept(claim, text)]
    news = [*claims_of(text), *facts]
    unclosed = [claim for claim in lost if not any(closes(each, claim) or may_replace(each, claim) for each in news)]
    if not unclosed:
        return text
    if len(unclosed) == len(claims_of(stored)) or len(lost) == len(unclosed):
        return None
    return "; ".join((text, *(claim[0].lower() + claim[1:] for claim in unclosed)))


def _is_kept(claim: str, text: str) -> bool:
    is_told = is_part_of(claim, text) and has_same_subject(claim, text)
    return is_told or any(is_known(claim, each) for each in claims_of(text))


def _repeats(fact: str, stored: str) -> bool:
    """True when the fact has all words of the memory, or all of a plan that it tells of: "Moved to Rome"."""
    words = words_of(_PLAN.sub("", stored)).known
    return len(words) >= _FEWEST_WORDS and words <= words_of(fact).known and has_same_person(fact, stored)
