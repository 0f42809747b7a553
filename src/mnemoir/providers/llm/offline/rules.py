"""The ordered table of rules: patterns over a whole clause, and the statements they make. The first result wins.

A rule covers only statements that are likely to last or that name a date. All other clauses are ignored: an
assistant that remembers small talk is worse than one that forgets a hobby.
"""

import re
from collections.abc import Sequence

from mnemoir.providers.llm.offline.conjugation import third_person
from mnemoir.providers.llm.offline.rules_of_being import BEING
from mnemoir.providers.llm.offline.rules_of_doing import DOING
from mnemoir.providers.llm.offline.rules_of_life import LIFE
from mnemoir.providers.llm.offline.sayings import Table


def said_by(clause: str) -> Sequence[str]:
    """The statements of the first rule that makes any; () when no rule does."""
    for pattern, say in _RULES:
        match = pattern.fullmatch(clause)
        said = say(match) if match else ()
        if said:
            return said
    return ()


def _remembered(match: re.Match[str]) -> Sequence[str]:
    """The statement in "remember that ...": by another rule if one matches, else in the user's words."""
    said = match["said"]
    by_rule = said_by(said) if not _REMEMBER.fullmatch(said) else ()
    if by_rule:
        return by_rule
    return (third_person(said[2:]),) if said.startswith("I ") else (said,)


_REMEMBER = re.compile(
    r"(?:please\s|also\s|always\s)?(?:remember|don't forget|do not forget|never forget|note|keep in mind|"
    r"bear in mind|"
    r"make a note|take note|for future reference)\b(?:\sthis)?(?:\s?[:,])?\s(?:that\s)?"
    r"(?!(?:that|it|these|those|them|all|everything)(?:\s(?:please|well|too|for me|for later|all|of that))*$)"
    r"(?P<said>(?!(?:to|when|how|me|what|the time|our|if|whether|about|of|where|which|this)\b).+)",
    re.IGNORECASE,
)
_RULES: Table = ((_REMEMBER, _remembered), *BEING, *LIFE, *DOING)
