"""The sentence with which an answer without a language model says what is going to be remembered.

It tells an intent: what comes of it is decided behind the answer. It is removed before facts are extracted, so that
no fact is derived from the announcement of a fact.
"""

import re
from collections.abc import Sequence

_INTENT = "I will remember: "
_MOST_NAMED = 8
_SENTENCE = re.compile(rf"(?:\A|\n\n){_INTENT}[^\n]*\Z")


def acknowledgement(facts: Sequence[str]) -> str:
    """The sentence about the facts, some of them by their number alone; "" for none."""
    if not facts:
        return ""
    named = " · ".join(facts[:_MOST_NAMED])
    more = len(facts) - _MOST_NAMED
    return f"{_INTENT}{named}{f' · and {more} more' if more > 0 else ''}"


def without_acknowledgement(answer: str) -> str:
    """The answer without such a sentence at its end."""
    return _SENTENCE.sub("", answer)
