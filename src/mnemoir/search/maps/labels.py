"""Names groups of texts by their commonest content words."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from mnemoir.search.stop_words import BY_LANGUAGE, OTHERS

LABEL_WORDS = 3
_READ = 500  # characters of a text
_LONGEST = 24  # characters of a word; what is longer is none, or a language that writes none apart
_WORD = re.compile(r"[^\W\d_]{2,}")
# words of many memories that say nothing of their subject: what one does with it, and how much of it there is
_LIGHT = """
keeps uses wants likes takes gets goes makes has had got gives needs tries begins ends says thinks knows called named
one two three four first second new old many much every last since ago day days week weeks month months year years
"""
_STOP_WORDS = OTHERS.union(_LIGHT.split(), *BY_LANGUAGE.values())


def group_labels(texts: Sequence[str], groups: Sequence[int], count: int) -> list[list[str]]:
    """The three commonest content words of each group, as they are mostly written; [] for a group without any.

    A word that is in many groups counts less: one that is in all of them tells none apart.
    """
    found: list[Counter[str]] = [Counter() for _ in range(count)]
    written: dict[str, Counter[str]] = {}
    for text, group in zip(texts, groups, strict=True):
        for small, raw in _content_words(text[:_READ]).items():
            found[group][small] += 1
            written.setdefault(small, Counter())[raw] += 1
    spread = Counter(word for words in found for word in words)
    return [
        [
            written[word].most_common(1)[0][0]
            for word in sorted(words, key=lambda word: (-words[word] * _weight(spread[word], count), word))
        ][:LABEL_WORDS]
        for words in found
    ]


def _weight(groups: int, count: int) -> float:
    return math.log(1 + count / groups)


def _content_words(text: str) -> dict[str, str]:
    """Each word of the text once, in lower case, with how it is written."""
    words = {raw.lower(): raw for raw in _WORD.findall(text) if len(raw) <= _LONGEST}
    return {small: raw for small, raw in words.items() if small not in _STOP_WORDS}
