"""Search by words in the conversation itself or in its chunk summaries, as older configurations ask for it."""

from collections.abc import Sequence

from mnemoir.core.messages import Message


def without_speakers(keywords: str, messages: Sequence[Message]) -> str:
    """`keywords` without the names of those who speak in the last ten messages."""
    raise NotImplementedError


def search_conversation(keywords: str, messages: Sequence[Message], *, lookback_start: int = 0) -> str:
    """The ten best pieces of the conversation, best first, joined by `--ChunkBreak--`.

    Searched are the last `lookback_start` messages, or for 0 all but the last; a fixed sentence when the conversation
    is not longer than that. `keywords` still hold the names of speakers.
    """
    raise NotImplementedError


def search_summaries(keywords: str, messages: Sequence[Message], summaries: Sequence[str]) -> str:
    """The first ten chunk summaries that hold any of the words, joined by a blank line; the newest three are left out.

    `summaries` come in the order of the conversation; up to three of them are all searched.
    """
    raise NotImplementedError
