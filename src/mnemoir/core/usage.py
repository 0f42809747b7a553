"""What a user or a tenant may have and use, and the tokens that models took for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal, get_args

from mnemoir.core.errors import InvalidRequest

Stored = Literal["memories", "memory_bytes", "messages", "attachment_bytes", "disk_bytes"]
Budget = Literal["tokens_day", "tokens_month"]
Quota = Literal[Stored, Budget, "concurrent_chats"]
OF_MEMORY: tuple[Stored, ...] = ("memories", "memory_bytes")
STORED: tuple[Stored, ...] = get_args(Stored)
BUDGETS: tuple[Budget, ...] = get_args(Budget)
QUOTAS: tuple[Quota, ...] = (*STORED, *BUDGETS, "concurrent_chats")
Limits = Mapping[Quota, int]  # a quota that is left out has no limit


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of model calls."""

    input: int = 0
    output: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.input + other.input, self.output + other.output)

    @property
    def total(self) -> int:
        """Both together."""
        return self.input + self.output


def checked_limits(raw: Mapping[str, object]) -> Limits:
    """`raw` as limits. Raises InvalidRequest for a name that is no quota, and for a limit that is no whole number."""
    for name, limit in raw.items():
        if name not in QUOTAS:
            raise InvalidRequest(
                f"{name[:40]!r} is no quota. There are {', '.join(QUOTAS)}.", code="validation_error", field="limits"
            )
        if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit < 2**53:
            raise InvalidRequest(
                f"The limit of {name} must be a whole number, 0 or more.", code="validation_error", field="limits"
            )
    return {what: limit for what in QUOTAS if isinstance(limit := raw.get(what), int)}


@lru_cache(maxsize=8)
def end_of(budget: Budget, today: date) -> datetime:
    """When a budget is whole again: the end of the UTC day or month."""
    if budget == "tokens_day":
        first = today + timedelta(days=1)
    else:
        first = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
    return datetime(first.year, first.month, first.day, tzinfo=UTC)
