"""Decay: memories not renewed for some days are hidden, never deleted.

Days are rolling periods of 24 hours, so no time zone matters. Where the horizon is applied, a memory exactly on it
is still shown.
"""

import math
from datetime import UTC, datetime, timedelta

from mnemoir.core.clock import from_text
from mnemoir.core.memories import Memory
from mnemoir.ports.memory_store import Visible
from mnemoir.ports.project_settings import ProjectSettings


def horizon_of(days: float | None, now: datetime) -> datetime | None:
    """The instant before which memories are hidden; None for no decay.

    Missing, zero, negative and not finite all mean no decay, and so does a horizon before the calendar begins.
    """
    if days is None or not math.isfinite(days) or days <= 0:
        return None
    try:
        return now - timedelta(hours=24) * days
    except OverflowError:
        return None


def visible_now(
    default_days: float | None, project: ProjectSettings, now: datetime, *, at: datetime | None = None
) -> Visible:
    """What a read shows: the project's own decay if it has set one, else the server's."""
    days = default_days if project.decay_days is None else project.decay_days
    return Visible(now=now, horizon=horizon_of(days, now), at=at)


def hidden(memory: Memory, visible: Visible) -> bool:
    """Whether a read would leave the memory out, for its age or because it has expired."""
    if expired(memory, visible.now):
        return True
    effective = from_text(memory.updated_at) or from_text(memory.created_at)
    return visible.horizon is not None and effective is not None and effective < visible.horizon


def expired(memory: Memory, now: datetime) -> bool:
    """Whether the memory's last day is over. A date that cannot be read never expires."""
    day = from_text(memory.expires_on)
    return day is not None and day.date() < now.astimezone(UTC).date()
