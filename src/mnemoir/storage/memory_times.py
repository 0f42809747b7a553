"""The times of a memory as numbers: seconds since 1970, parsed from its stored texts."""

from datetime import UTC, datetime, time, timedelta

from mnemoir.core.clock import from_text
from mnemoir.core.memories import Memory


def seconds_of(text: str | None) -> float | None:
    """Seconds since 1970 of a stored time; None without one, and for a text that is no time."""
    instant = from_text(text)
    return None if instant is None else instant.timestamp()


def effective_at(memory: Memory) -> float | None:
    """The time of the memory's last renewal. A valid `updated_at` decides alone."""
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
