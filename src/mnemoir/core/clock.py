"""Conversion of times to text and back: RFC 3339, UTC, milliseconds, `Z`.

Stored times stay text, exactly as received, so that an unusual date of an imported file is not lost.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time, with zone UTC."""
    return datetime.now(UTC)


def now_text() -> str:
    """The current time as text, as `to_text` writes it."""
    return to_text(utc_now())


def to_text(instant: datetime) -> str:
    """The instant as text, like `2026-03-04T09:15:00.000Z`. An instant without a zone is taken as UTC."""
    if instant.tzinfo is not UTC:
        instant = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    bare = instant.replace(tzinfo=None)  # with its zone it takes twice as long
    return bare.isoformat(timespec="milliseconds") + "Z"


def to_local_text(instant: datetime) -> str:
    """The instant as text with its own offset, like `2026-03-04T18:15:00.000+09:00`; `Z` for zero."""
    text = instant.isoformat(timespec="milliseconds")
    return text if instant.utcoffset() else text.removesuffix("+00:00") + "Z"


def from_text(text: object) -> datetime | None:
    """The instant of an ISO 8601 text, in UTC; None for anything else. A text without an offset is taken as UTC."""
    instant = from_local_text(text)
    return None if instant is None else instant.astimezone(UTC)


def from_local_text(text: object) -> datetime | None:
    """The instant of an ISO 8601 text, at the offset it is written with; otherwise as `from_text`."""
    if not isinstance(text, str):
        return None
    try:
        instant = datetime.fromisoformat(text.strip())
        instant = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
        instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return instant


def midnight(day: date) -> float:
    """The beginning of a UTC day, in seconds after 1970."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def day_text(number: int) -> str:
    """The UTC day so many days after 1970-01-01, as YYYY-MM-DD."""
    return (date(1970, 1, 1) + timedelta(days=number)).isoformat()


def from_epoch(seconds: float) -> datetime | None:
    """The instant `seconds` after 1970, in UTC; None when it is outside the range of `datetime`."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
