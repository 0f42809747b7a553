"""Rules for habits and for events on a named day. They come last, because their patterns match most."""

import re
from collections.abc import Sequence

from mnemoir.providers.llm.offline import vocabulary as v
from mnemoir.providers.llm.offline.sayings import dated, dated_front, doing, habit, leading_habit, table, third

_WHEN = r"(?P<when>(?:yesterday|today|tomorrow|tonight|last|next|this|on|in|two|three|a|\d+)\b[^,]{0,30}?)"
_END = r"(?:\s(?P<ended>anymore|any more|any longer))"
_DOES_NOT = (
    "eat|drink|like|smoke|drive|speak|work|live|have|own|enjoy|watch|use|wear|believe|play|sleep well|"
    "celebrate|consume|"
    "tolerate|cook|want (?:kids|children)|read|travel|fly|date|trust|do (?:drugs|sports)|love|row|run|swim"
)


_KEPT = re.compile(
    r"\b(?:car|bike|bicycle|tesla|wheelchair|glasses|lenses|aid|insulin|medication|thinners|linux|windows|macos|mac|vim|"
    r"emacs|metric.*|laptop)\b",
    re.IGNORECASE,
)


def used(match: re.Match[str]) -> Sequence[str]:
    """The statement about a thing used or worn, when it is of a lasting kind; else ()."""
    return third(match) if _KEPT.search(match["x"]) else ()


DOING = table(
    # habits and lasting states
    (
        r"(?P<when>(?:every|each|on) (?:\w+ )?(?:day|morning|evening|afternoon|night|week|weekend|month|year|"
        r"summer|winter|spring|autumn|\w+days?|weekends|weekdays)|"
        r"(?:once|twice|\w+ times) a (?:day|week|month|year)),? I (?P<said>.+)",
        leading_habit,
    ),
    (
        r"(?:I|we) (?:(?:really|also|absolutely|both|personally|currently|definitely|just|do|totally|still|"
        r"truly)\s)*"
        r"(?P<said>(?:(?:mostly|mainly|only|usually|always|often|particularly|especially|sometimes|generally|"
        r"normally)\s)*"
        rf"(?:{v.LASTING})\b.*)",
        doing,
    ),
    (r"(?:I|we) (?P<said>.+)", habit),
    (
        r"I would (?:rather|prefer) (?P<x>(?!(?:not\b|if\b|you\b|it\b|to (?:see|know|have (?:it|this))\b)).+)",
        "Would prefer {x}",
    ),
    (rf"I (?P<said>(?:{v.PAST})\b(?! (?:on it|this|that|it|reading|to|by)\b) .+)", lambda m: (m["said"],)),
    (
        r"I (?:also )?(?P<x>(?:run|manage|lead|own|founded) (?:a|an|my own|the) (?:[\w-]+ ){0,3}?(?:company|"
        r"business|team|shop|restaurant|startup|start-up|farm|"
        r"department|blog|agency|studio|lab|club|bakery|café|cafe|bar|hotel|school|charity|gallery|bookshop|"
        r"store|salon)\b.*)",
        third,
    ),
    (
        r"I (?P<x>(?:use|drive|ride|wear|take|need) (?:a |an |my |insulin|only |glasses|contact|hearing|blood |"
        r"metric|linux|windows|macos|vim|emacs).*)",
        used,
    ),
    # events on a named day
    (rf"{_WHEN},? (?:I|we) (?P<said>.+)", dated_front),
    (r"(?:I|we) (?P<said>.+)", dated),
)
