"""Answers without stored memories: recent messages, and keyword search as older configurations use it.

Case is ignored, as are AND, OR and parentheses in the keywords. Time is linear in the length of the text.
"""

import re
from collections import deque
from collections.abc import Collection, Sequence
from heapq import nsmallest

from mnemoir.core.messages import Message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.memory.discussions.parts import CHUNK_BREAK, NONE_TO_GRAB, TOO_SHORT, chunk_spans

_PIECE_TOKENS = 400
_ROLE_NAMES = re.compile("User: |USER: |Assistant: |ASSISTANT: |systemMes: |SYSTEMMES: ")
_SPEAKER = re.compile(r"\b(\w+):")
_TOKEN = re.compile(r"\w+:?|[()]")
_WORD = re.compile(r"\w+")
_OPERATORS = {"AND", "OR"}
_NEWEST_MESSAGES = 10
_NEAR = 5  # words apart
_MOST = 10
_NEWEST_SUMMARIES = 3


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


def without_speakers(keywords: str, messages: Sequence[Message]) -> str:
    """`keywords` without the speaker names of the last ten messages, and without punctuation."""
    newest = messages[-_NEWEST_MESSAGES:]
    speakers = {found[1] for message in newest for found in _SPEAKER.finditer(message.text)}
    tokens = _TOKEN.findall(keywords)
    return " ".join(token for token in tokens if token not in speakers and not token.endswith(":"))


def search_conversation(keywords: str, messages: Sequence[Message], *, lookback_start: int = 0) -> str:
    """The ten best pieces of the conversation, best first, joined by `--ChunkBreak--`; "" when none has a word.

    Searched are the last `lookback_start` messages, or for 0 all but the last; a fixed sentence when the conversation
    is not longer than that. Names of speakers do not count as keywords.
    """
    if len(messages) <= max(lookback_start, 0):
        return TOO_SHORT
    words = _words(keywords, messages)
    searched = messages[-lookback_start:] if lookback_start > 0 else messages[:-1]
    scored = [(_score(piece, words), place, piece) for place, piece in enumerate(pieces(searched))]
    best = nsmallest(_MOST, (one for one in scored if one[0]), key=lambda one: (-one[0], one[1]))
    return CHUNK_BREAK.join(without_role_names(piece) for _, _, piece in best)


def search_summaries(keywords: str, messages: Sequence[Message], summaries: Sequence[str]) -> str:
    """The first ten chunk summaries that hold any of the words, joined by a blank line; "" when none does.

    `summaries` come in the order of the conversation; the newest three are left out, if there are more. A word is
    found within longer ones as well. Names of speakers do not count as keywords.
    """
    words = _words(keywords, messages)
    older = summaries[:-_NEWEST_SUMMARIES] if len(summaries) > _NEWEST_SUMMARIES else summaries
    found = [text for text in older if any(word in text.casefold() for word in words)]
    return "\n\n".join(found[:_MOST])


def _words(keywords: str, messages: Sequence[Message]) -> set[str]:
    tokens = _WORD.findall(without_speakers(keywords, messages))
    return {token.casefold() for token in tokens if token not in _OPERATORS}


def _score(piece: str, words: Collection[str]) -> int:
    """The number of occurrences of the words, or of pairs of different words near each other, whichever is more."""
    hits = pairs = 0
    near: deque[tuple[int, str]] = deque()
    for place, found in enumerate(_WORD.finditer(piece.casefold())):
        word = found[0]
        if word not in words:
            continue
        while near and place - near[0][0] > _NEAR:
            near.popleft()
        hits += 1
        pairs += sum(other != word for _, other in near)
        near.append((place, word))
    return max(hits, pairs)
