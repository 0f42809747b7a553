"""Recent messages in place of memories, for conversations that belong to no discussion."""

import re
from collections.abc import Sequence

from mnemoir.core.messages import Message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.memory.discussions.chunking import chunk_spans
from mnemoir.memory.discussions.literals import NONE_TO_GRAB

_PIECE_TOKENS = 400
_ROLE_NAMES = re.compile("User: |USER: |Assistant: |ASSISTANT: |systemMes: |SYSTEMMES: ")


def recent_turns(messages: Sequence[Message], *, turns: int, lookback_start: int = 0, delimiter: str) -> str:
    """The last `turns` messages but the newest of them, in pieces joined by `delimiter`; a fixed sentence for none.

    Messages of all roles count. The newest `lookback_start` of them are left out. Role names before the texts are
    removed.
    """
    stop = len(messages) - max(lookback_start, 0)
    chosen = messages[max(0, stop - max(turns, 0)) : max(0, stop - 1)]
    if not chosen:
        return NONE_TO_GRAB
    return delimiter.join(without_role_names(piece) for piece in pieces(chosen))


def pieces(messages: Sequence[Message]) -> list[str]:
    """The messages as text, cut into runs of about 400 tokens."""
    texts = [message.text for message in messages]
    spans = chunk_spans([estimate_prompt_tokens(text) for text in texts], _PIECE_TOKENS)
    return ["\n".join(texts[start:stop]) for start, stop in spans]


def without_role_names(text: str) -> str:
    """`text` without the role names that chat front-ends write before turns, anywhere in it."""
    return _ROLE_NAMES.sub("", text)
