"""Conversion of times in files: ISO 8601 in ours, seconds or milliseconds since 1970 in other programs' files."""

from datetime import datetime

from mnemoir.core.clock import from_epoch, from_text
from mnemoir.core.conversations import naive_utc

_EARLIEST, _LATEST = datetime(1970, 1, 1), datetime(2200, 1, 1)  # a time outside is an error
_MILLISECONDS = 1e11  # as seconds this is the year 5138


def written(instant: datetime | None) -> str | None:
    """The text of a time in naive UTC: `2026-03-04T12:00:00.000000Z`; None for None."""
    return None if instant is None else instant.isoformat(timespec="microseconds") + "Z"


def read_text(text: str) -> datetime | None:
    """The time of a text, in naive UTC; None for an invalid text or a time outside 1970 to 2199."""
    return _sensible(from_text(text))


def read_epoch(number: float) -> datetime | None:
    """The time of a number of seconds since 1970, or of milliseconds when it is too large for seconds."""
    return _sensible(from_epoch(number / 1000 if abs(number) >= _MILLISECONDS else number))


def _sensible(instant: datetime | None) -> datetime | None:
    if instant is None:
        return None
    found = naive_utc(instant)
    return found if _EARLIEST <= found < _LATEST else None
