"""The result type of the checks of `doctor`."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from mnemoir.settings import Settings

_MOST_COMPLAINTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check; `to_do` is empty when there is nothing to do."""

    check: str
    state: Literal["ok", "warn", "fail"]
    found: str
    to_do: str = ""


Check = Callable[[Settings], Awaitable[Finding]]


def joined(complaints: Sequence[str]) -> str:
    """The first few complaints as one text, and the number of further ones; "" for none."""
    more = len(complaints) - _MOST_COMPLAINTS
    return " ".join([*complaints[:_MOST_COMPLAINTS], *([f"And {more} more."] if more > 0 else [])])
