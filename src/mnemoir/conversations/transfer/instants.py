"""Times in files: ISO 8601 in ours, seconds or milliseconds since 1970 in those of others."""

from datetime import datetime

from mnemoir.core.clock import from_epoch, from_text
from mnemoir.core.conversations import naive_utc

_EARLIEST, _LATEST = datetime(1970, 1, 1), datetime(2200, 1, 1)  # beyond, a time is a mistake that would be kept
_MILLISECONDS = 1e11  # as seconds this is the year 5138


def written(instant: datetime | None) -> str | None:
    """`2026-03-04T12:00:00.000000Z`, of naive UTC."""
    return None if instant is None else instant.isoformat(timespec="microseconds") + "Z"


def read_text(text: str) -> datetime | None:
    """Naive UTC; None for what names no instant, or one outside 1970 to 2199."""
    return _sensible(from_text(text))


def read_epoch(number: float) -> datetime | None:
    """The same of seconds since 1970, or of milliseconds where seconds would make no sense."""
    return _sensible(from_epoch(number / 1000 if abs(number) >= _MILLISECONDS else number))


def _sensible(instant: datetime | None) -> datetime | None:
    if instant is None:
        return None
    found = naive_utc(instant)
    return found if _EARLIEST <= found < _LATEST else None
