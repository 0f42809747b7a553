"""`#histories#` and `#sys.query#` in the texts of a node: where the history and the user's message belong.

Variables are filled in first and the marks after them, and only those that the author of the texts wrote: what a
person or a model said is never read as a mark.
"""

import re
import secrets

from mnemoir.conversations.turns.history_text import HISTORY_MARKER, QUERY_MARKER

_SECRET = secrets.token_hex(16)  # stands for a mark while variables are filled in; nobody who writes a text knows it
_HIDDEN = {HISTORY_MARKER: f"<{_SECRET}:history>", QUERY_MARKER: f"<{_SECRET}:query>"}
_ANY_MARK = re.compile("|".join(map(re.escape, _HIDDEN)))


def with_hidden_marks(text: str) -> str:
    """The text as it may be filled with variables."""
    return _ANY_MARK.sub(lambda found: _HIDDEN[found[0]], text) if "#" in text else text


def with_query(text: str, query: str) -> str:
    """The text with the user's message in the places of its hidden marks."""
    return text.replace(_HIDDEN[QUERY_MARKER], query)


def with_history(text: str, history: str) -> str:
    """The text with the history in the places of its hidden marks."""
    return text.replace(_HIDDEN[HISTORY_MARKER], history)


def places_history(text: str) -> bool:
    """Whether the text has a hidden mark for the history."""
    return _HIDDEN[HISTORY_MARKER] in text
