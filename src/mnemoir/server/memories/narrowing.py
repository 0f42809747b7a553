"""What narrows a request to a part of one user's memories, in lists, searches, exports and deletions alike.

A part is named by its agent, application and run, and by the caller's own metadata: a memory is of it where it has
each of these members, with the same value or with one of a list of values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.memories import Memory, has_members
from mnemoir.ports.memory_store import ListFilter

Metadata = Mapping[str, Any]


class InvalidFilter(InvalidRequest):
    """An unsupported filter condition; the server refuses it instead of ignoring it."""

    code = "invalid_filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """A part of a user's memories; with nothing but None it is all of them."""

    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    metadata: Metadata | None = None

    @property
    def ids(self) -> dict[str, str | None]:
        """The agent, app and run, as `owner` takes them."""
        return {"agent_id": self.agent_id, "app_id": self.app_id, "run_id": self.run_id}

    @property
    def is_all(self) -> bool:
        """Whether it narrows nothing."""
        return self == EVERY_PART

    def holds(self, memory: Memory) -> bool:
        """Whether the memory is of the part."""
        of_it = ((self.agent_id, memory.agent), (self.app_id, memory.app), (self.run_id, memory.conversation))
        is_named = all(wanted in (None, own) for wanted, own in of_it)
        return is_named and (self.metadata is None or has_members(memory.metadata, self.metadata))


EVERY_PART = Narrowing()


def wanted_metadata(raw: object) -> Metadata:
    """The members that metadata are to have. Raises InvalidFilter for what names none."""
    if not isinstance(raw, dict) or not raw:
        raise InvalidFilter(
            'metadata must be an object with at least one member, as {"topic": "food"}.', field="metadata"
        )
    return raw


def refuse_conditions(wanted: ListFilter) -> None:
    """Raise InvalidRequest for a look into the past with any other condition."""
    if wanted != ListFilter(visible=wanted.visible):
        raise InvalidRequest("at goes with no other condition.", code="invalid_filter")
