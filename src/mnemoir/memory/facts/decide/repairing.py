"""Repairs in the turn after: "No wait, Lyon." behind "I live in Paris"."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from mnemoir.core.clock import from_text
from mnemoir.core.memories import Memory
from mnemoir.memory.facts.reading.repairs import repair

_LONGEST = timedelta(minutes=10)  # since the add that is repaired


def repaired_fact(memories: Sequence[Memory], said: str, now: datetime) -> str | None:
    """The fact of the last add with the value that the turn gives; `memories` are the newest ones, newest first.

    None where no fact or several have such a value, or the last add is more than ten minutes old.
    """
    last = [one for one in memories if one.kind == "fact" and one.created_at == memories[0].created_at]
    told_at = from_text(last[0].created_at) if last else None
    if told_at is None or now - told_at > _LONGEST:
        return None
    joined = [f"{one.text}. {said}" for one in last]
    changed = [text for each in joined if (text := repair(each)) != each]
    return changed[0].strip(" .!") if len(changed) == 1 else None
