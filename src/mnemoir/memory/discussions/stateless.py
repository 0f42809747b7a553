"""Recent messages in place of memories, for conversations that belong to no discussion."""

from collections.abc import Sequence

from mnemoir.core.messages import Message


def recent_turns(messages: Sequence[Message], *, turns: int, lookback_start: int = 0, delimiter: str) -> str:
    """The last `turns` messages but the newest of them, in pieces joined by `delimiter`; a fixed sentence for none.

    The newest `lookback_start` messages are left out. Names of roles in front of what was said are taken away.
    """
    raise NotImplementedError


def pieces(messages: Sequence[Message]) -> list[str]:
    """The messages in runs of about 400 tokens, as text."""
    raise NotImplementedError


def without_role_names(text: str) -> str:
    """`text` without what chat front-ends write in front of turns."""
    raise NotImplementedError
