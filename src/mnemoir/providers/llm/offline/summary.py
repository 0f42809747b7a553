"""Summaries by extraction: the sentences whose words are most frequent in the text, in their original order."""

import re
from collections import Counter

from mnemoir.memory.facts.resemblance import words_of

_SENTENCE = re.compile(r"(?<=[.!?…。])\s+|\n+")


def summarise(text: str, sentences: int = 3) -> str:
    """The `sentences` most central sentences of `text`; the whole text when it has no more, "" for an empty text.

    The weight of a sentence is the average frequency of its words; the first sentence weighs a little more, because
    people name their subject first.
    """
    found = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    if len(found) <= sentences:
        return " ".join(found)
    occurring = Counter(stem for sentence in found for stem in set(words_of(sentence).stems))
    best = sorted(range(len(found)), key=lambda at: (-_weight(found[at], occurring) - 0.5 * (at == 0), at))
    return " ".join(found[at] for at in sorted(best[: max(0, sentences)]))


def _weight(sentence: str, occurring: Counter[str]) -> float:
    stems = set(words_of(sentence).stems)
    return sum(occurring[stem] for stem in stems) / (len(stems) + 2)
