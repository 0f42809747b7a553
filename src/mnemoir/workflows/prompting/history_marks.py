"""The marks `#histories#` and `#sys.query#` in texts of a node, for the history and the user's message.

Variables are filled in first, then the marks. Only marks written by the author of the texts are replaced: text of a
person or a model is never read as a mark.
"""

import re
import secrets

from mnemoir.conversations.turns.history_text import HISTORY_MARKER, QUERY_MARKER

_SECRET = secrets.token_hex(16)  # replaces marks while variables are filled in; authors of texts cannot know it
_HIDDEN = {HISTORY_MARKER: f"<{_SECRET}:history>", QUERY_MARKER: f"<{_SECRET}:query>"}
_ANY_MARK = re.compile("|".join(map(re.escape, _HIDDEN)))


def with_hidden_marks(text: str) -> str:
    """The text with its marks replaced by secret ones, so that variables may be filled in."""
    return _ANY_MARK.sub(lambda found: _HIDDEN[found[0]], text) if "#" in text else text


def with_query(text: str, query: str) -> str:
    """The text with its hidden marks for the query replaced by the user's message."""
    return text.replace(_HIDDEN[QUERY_MARKER], query)


def with_history(text: str, history: str) -> str:
    """The text with its hidden marks for the history replaced by the history."""
    return text.replace(_HIDDEN[HISTORY_MARKER], history)


def places_history(text: str) -> bool:
    """True when the text has a hidden mark for the history."""
    return _HIDDEN[HISTORY_MARKER] in text
