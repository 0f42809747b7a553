"""Conjugation of English verbs from the first person to the third: "row every morning" to "rows every morning"."""

import re

_IRREGULAR = {
    "am": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "are": "is",
}
_SAME = frozenset(
    re.findall(
        r"\S+",
        """
        can cannot can't could will won't would should must may might was were had did didn't is has does used
        became began bought broke brought built came caught chose did drew drank drove ate fell felt fought found flew
        forgot gave got grew heard held kept knew left lent lost made met paid put quit ran rang rode rose said sang
        sat saw sent shot slept sold spent spoke stood stole swam taught thought threw told took understood went woke
        won wore wrote hurt cut let set read hit cost beat bit blew dug hid hung laid led meant rebuilt retook shook
        spread stuck swore tore wound withdrew underwent
        """,
    )
)
_ADVERBS = frozenset(
    re.findall(
        r"\S+",
        """
        usually always often never rarely normally typically generally sometimes regularly seldom really
        also mostly mainly currently still only just actually absolutely especially particularly totally
        truly barely hardly recently already basically simply definitely strongly occasionally frequently
        """,
    )
)
_PRESENT_ALTHOUGH_ED = frozenset({"need", "feed", "breed", "speed", "bleed", "embed", "shed", "wed", "heed", "weed"})
_PAST_AND_PRESENT = frozenset({"read", "put", "let", "set", "cut", "hit", "hurt", "quit", "spread", "cost", "beat"})


def third_person(phrase: str) -> str:
    """The third-person form of `phrase`, a text that follows "I"; leading adverbs keep their position.

    A past form stays; verbs such as "read", which show no tense, are treated as present.
    """
    words = phrase.split()
    at = next((i for i, word in enumerate(words) if word.lower() not in _ADVERBS), len(words))
    if at < len(words):
        words[at] = _third(words[at])
    return " ".join(words)


def is_past(verb: str) -> bool:
    """True when the spelling of `verb` shows a past form."""
    low = verb.lower()
    return (low.endswith("ed") and low not in _PRESENT_ALTHOUGH_ED) or (low in _SAME and low not in _MODAL_LIKE)


def skip_adverbs(phrase: str) -> str:
    """`phrase` without its leading adverbs."""
    words = phrase.split()
    at = next((i for i, word in enumerate(words) if word.lower() not in _ADVERBS), len(words))
    return " ".join(words[at:])


_MODAL_LIKE = _PAST_AND_PRESENT | frozenset(
    re.findall(r"\S+", "can cannot can't could will won't would should must may might is has does")
)


def _third(verb: str) -> str:
    low = verb.lower()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if (low in _SAME and low not in _PAST_AND_PRESENT) or is_past(low):
        return low
    if low.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{low}es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return f"{low[:-1]}ies"
    return f"{low}s"
