"""The times of a memory as numbers: seconds since 1970, read from the texts that it keeps."""

from datetime import UTC, datetime, time, timedelta

from mnemoir.core.clock import from_text
from mnemoir.core.memories import Memory


def seconds_of(text: str | None) -> float | None:
    """None for no time, and for a text that names none."""
    instant = from_text(text)
    return None if instant is None else instant.timestamp()


def effective_at(memory: Memory) -> float | None:
    """When the memory was last renewed. An `updated_at` that reads as a time decides alone."""
    updated = seconds_of(memory.updated_at)
    return seconds_of(memory.created_at) if updated is None else updated


def expires_at(memory: Memory) -> float | None:
    """The end of the memory's last day; None when it has none, and for the last day of the calendar."""
    instant = from_text(memory.expires_on)
    if instant is None:
        return None
    try:
        return datetime.combine(instant.date() + timedelta(days=1), time(), UTC).timestamp()
    except OverflowError:
        return None
