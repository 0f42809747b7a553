"""Decay: memories not renewed for some days are hidden, never deleted.

Days are rolling periods of 24 hours, so no time zone matters. Where the horizon is applied, a memory exactly on it
is still shown.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

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
    """The visibility rules of a read: the project's own decay if it has set one, else the server's."""
    days = default_days if project.decay_days is None else project.decay_days
    return Visible(now=now, horizon=horizon_of(days, now), at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """The age of a memory: `fading` has less than a quarter of its time left. `decays_at` is None without decay."""

    state: Literal["current", "fading", "hidden", "expired"]
    decays_at: datetime | None = None


def freshness(memory: Memory, visible: Visible) -> Freshness:
    """The state of a memory, and the time at which it decays unless renewed."""
    decays_at = _decays_at(memory, visible)
    if is_expired(memory, visible.now):
        return Freshness(state="expired", decays_at=decays_at)
    if decays_at is None or visible.horizon is None:
        return Freshness(state="current")
    if decays_at < visible.now:
        return Freshness(state="hidden", decays_at=decays_at)
    is_fading = decays_at - visible.now < (visible.now - visible.horizon) / 4
    return Freshness(state="fading" if is_fading else "current", decays_at=decays_at)


def _decays_at(memory: Memory, visible: Visible) -> datetime | None:
    renewed = from_text(memory.updated_at) or from_text(memory.created_at)
    if visible.horizon is None or renewed is None:
        return None
    try:
        return renewed + (visible.now - visible.horizon)
    except OverflowError:
        return None


def is_hidden(memory: Memory, visible: Visible) -> bool:
    """True when a read leaves the memory out because it decayed or expired."""
    if is_expired(memory, visible.now):
        return True
    effective = from_text(memory.updated_at) or from_text(memory.created_at)
    return visible.horizon is not None and effective is not None and effective < visible.horizon


def is_expired(memory: Memory, now: datetime) -> bool:
    """True when the memory's last day is over. An unreadable date never expires."""
    day = from_text(memory.expires_on)
    return day is not None and day.date() < now.astimezone(UTC).date()
