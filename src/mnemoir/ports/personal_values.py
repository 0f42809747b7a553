"""The values behind placeholders of personal data: each has one number of its kind for a user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from mnemoir.core.scope import Scope

Place = Literal["facts", "messages"]  # where a value was to be stored


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalValue:
    """A value in its normal form, and as it was said. Equal values have equal kinds and normal forms."""

    kind: str
    normal: str = field(repr=False)
    original: str = field(repr=False, compare=False)


class PersonalValues(Protocol):
    """The values of all users. Raises StorageUnavailable.

    The conversation of a scope is where a value was said, None for none; a value goes with the last conversation.
    """

    async def numbers(self, scope: Scope, values: Sequence[PersonalValue], place: Place | None) -> Sequence[int]:
        """The number of each value. Without a place nothing is stored, and unknown values get free numbers."""

    async def said_in(self, scope: Scope, values: Sequence[PersonalValue]) -> None:
        """Note for messages of the scope's conversation what was noted for none."""

    async def originals(self, scope: Scope) -> Mapping[tuple[str, int], str]:
        """The values of the user that may be turned back, by kind and number."""

    async def forget(self, scope: Scope) -> None:
        """Delete what was said in the scope's conversation or, without one, what stands in facts of the user.

        What was noted for no conversation goes with the facts.
        """
