"""The documented import path of `SessionTurns`, which is in `turns/session_turns.py`."""

from mnemoir.conversations.turns.session_turns import SessionTurns

__all__ = ["SessionTurns"]
