"""The importance score of a message, from 0 to 1: a fixed sum of features of its text. No model is called.

    decisions and commitments                            +0.5
    facts about the user: names, dates, amounts,
      preferences, constraints                           +0.4
    an explicit "remember"                               +0.6
    a correction                                         +0.3
    a question that a decision answers later             +0.2
    length, full from twelve characters on               +0.2
    small talk and acknowledgements                      -0.4
    a tool's output                                      -0.2

So a message with one such feature scores 0.6 or more, the usual threshold, and small talk far less. Facts, requests
and corrections count in user messages only, because an assistant only repeats them. A system message scores 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.conversations.windows.importance_cues import CORRECTION, DECISION, FACT, OFFER, REMEMBER, SMALL_TALK
from mnemoir.core.conversations import Message
from mnemoir.core.sentences import asks

IMPORTANT = 0.6
MESSAGES_AHEAD = 6  # number of following messages in which a decision answers a question

_MOST_READ = 4_000  # characters; in longer texts important statements seldom come later
_FULL_LENGTH = 12  # characters; a wide one counts as three
_QUOTED = re.compile(r"```.*?(?:```|\Z)|^\s*>[^\n]*$", re.DOTALL | re.MULTILINE)
_NEXT_SENTENCE = re.compile(r"[.!。！;；]\s*\S")
_SMALL_TALK_CHARACTERS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceContext:
    """The messages after the scored one, oldest first; the first six count."""

    after: Sequence[Message] = ()


def score_importance(message: Message, context: ImportanceContext | None = None) -> float:
    """The score from 0 to 1, rounded to four digits and deterministic; 1 for a system message, 0 without text."""
    if message.role == "system":
        return 1.0
    text = _text_without_quotes(message)
    if not text:
        return 0.0
    if message.role == "tool":
        return _score_in_range(_length(text) - 0.2)
    score = _length(text) + _decision(message, text)
    if message.role == "user":
        score += _of_user(text) + _score_of_answer(text, context)
    if len(text) <= _SMALL_TALK_CHARACTERS and SMALL_TALK.match(text):
        score -= 0.4
    return _score_in_range(score)


def _of_user(text: str) -> float:
    score = 0.6 if REMEMBER.search(text) else 0.0
    if FACT.search(text) and not _asks_only(text):
        score += 0.4
    return score + (0.3 if CORRECTION.search(text) else 0.0)


def _decision(message: Message, text: str) -> float:
    """0.5 for a decision; 0 for questions and for an assistant's offers, which are no commitments."""
    if not DECISION.search(text) or _asks_only(text):
        return 0.0
    return 0.0 if message.role == "assistant" and OFFER.search(text) else 0.5


def _score_of_answer(text: str, context: ImportanceContext | None) -> float:
    if context is None or not asks(text):
        return 0.0
    later = context.after[:MESSAGES_AHEAD]
    return (
        0.2
        if any(_decision(message, _text_without_quotes(message)) for message in later if message.role != "tool")
        else 0.0
    )


def _asks_only(text: str) -> bool:
    """True when the text is a single question."""
    return asks(text) and not _NEXT_SENTENCE.search(text)


def _text_without_quotes(message: Message) -> str:
    """The text without code and quotations."""
    return _QUOTED.sub(" ", message.text[:_MOST_READ]).strip()


def _length(text: str) -> float:
    width = sum(3 if char > "\u2e7f" else 1 for char in text[:_FULL_LENGTH])
    return 0.2 * min(1.0, width / _FULL_LENGTH)


def _score_in_range(score: float) -> float:
    return round(min(1.0, max(0.0, score)), 4)
