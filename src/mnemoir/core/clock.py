"""Time as text and back: RFC 3339, UTC, milliseconds, `Z`.

Stored times stay text, exactly as they came: an imported file may hold odd dates, and none is worth losing.
"""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current instant, with its zone."""
    return datetime.now(UTC)


def now_text() -> str:
    """The current instant as text."""
    return to_text(utc_now())


def to_text(instant: datetime) -> str:
    """`2026-03-04T09:15:00.000Z`; an instant without a zone is read as UTC."""
    if instant.tzinfo is not UTC:
        instant = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    return instant.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def from_text(text: object) -> datetime | None:
    """The instant an ISO 8601 text names, in UTC; None when it names none. No offset means UTC."""
    if not isinstance(text, str):
        return None
    try:
        instant = datetime.fromisoformat(text.strip())
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def from_epoch(seconds: float) -> datetime | None:
    """The instant so many seconds after 1970; None when no calendar holds it."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
