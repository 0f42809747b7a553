"""For how long memories are kept: what the settings, a tenant and a project say of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from mnemoir.core.errors import InvalidRequest

Kept = Literal["memories_days", "history_days", "deleted_days"]
KEPT: tuple[Kept, ...] = get_args(Kept)
MOST_DAYS = 36_500
Retention = Mapping[Kept, int]  # days, 0 for ever; what is left out is said elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDays:
    """For how many days things are kept; None for ever.

    `memories` counts from the last renewal, `history` from the event, `deleted` from the removal or replacement.
    """

    memories: int | None = None
    history: int | None = None
    deleted: int | None = None


def kept_days(*said: Retention) -> KeptDays:
    """What holds of several, the narrowest first: of each kind the first one that says something."""
    days = {name: next((each[name] for each in said if name in each), 0) or None for name in KEPT}
    return KeptDays(memories=days["memories_days"], history=days["history_days"], deleted=days["deleted_days"])


def checked_retention(raw: Mapping[str, object]) -> Retention:
    """`raw` as days by name. Raises InvalidRequest for another name, and for what is no number of days."""
    for name, days in raw.items():
        if name not in KEPT:
            raise InvalidRequest(
                f"{name[:40]!r} is nothing that is kept for days. There are {', '.join(KEPT)}.",
                code="validation_error",
                field="retention",
            )
        if not isinstance(days, int) or isinstance(days, bool) or not 0 <= days <= MOST_DAYS:
            raise InvalidRequest(
                f"{name} must be a whole number of days, at most {MOST_DAYS}; 0 is for ever.",
                code="validation_error",
                field=f"retention.{name}",
            )
    return {name: days for name in KEPT if isinstance(days := raw.get(name), int)}
