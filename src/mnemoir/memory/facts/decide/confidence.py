"""Tells facts that the user said from facts that a model read out of code, quotes, pasted text or irony.

A rule cannot tell whether such a fact is wrong, so it is stored, and its history says that it is unsure. A fact whose
words only the assistant said is the assistant's.
"""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.memory.facts.decide.resemblance import words_of
from mnemoir.memory.facts.extract.requests import Statement, Turn
from mnemoir.memory.facts.reading.own_words import own_sentences

_ENOUGH = 0.5  # of a fact's words


def with_certainty(facts: Sequence[Statement], turns: Sequence[Turn]) -> list[Statement]:
    """The facts with their origin; unsure are those whose words the user only quoted or pasted."""
    typed = [turn.text for turn in turns if turn.role == "user"]
    written = _stems(typed)
    own = _stems([sentence for text in typed for sentence in own_sentences(text)])
    answered = _stems([turn.text for turn in turns if turn.role == "assistant"])
    return [
        replace(
            fact,
            is_sure=_is_sure(fact, written, own),
            origin="assistant" if _is_answer(fact, written, answered) else "user",
        )
        for fact in facts
    ]


def _is_answer(fact: Statement, written: frozenset[str], answered: frozenset[str]) -> bool:
    words = words_of(fact.text).known
    return not words & written and len(words & answered) >= _ENOUGH * max(1, len(words))


def _is_sure(fact: Statement, written: frozenset[str], own: frozenset[str]) -> bool:
    words = words_of(fact.text).known
    return bool(words & own) or len(words & written) < _ENOUGH * len(words)


def _stems(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(stem for text in texts for stem in words_of(text).known)
