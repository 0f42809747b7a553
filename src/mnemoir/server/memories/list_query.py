"""The conditions of a list of memories, in the query of a request; also of what is counted over such a list."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Depends, Query

from mnemoir.core.clock import from_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Kind, Origin
from mnemoir.core.scope import Scope as Owner
from mnemoir.ports.memory_store import ListFilter
from mnemoir.server.memories.bodies import LONGEST_WORDS, MOST_IDS
from mnemoir.server.memories.narrowing import Narrowing
from mnemoir.server.memories.narrowing_query import NarrowingHere
from mnemoir.server.site import Site

Hidden = Literal["without", "with", "only"]
At = Annotated[str | None, Query(description="ISO 8601: what was current then instead of what is now")]
Time = Annotated[str | None, Query(description="ISO 8601, of the time that the list goes by")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListConditions:
    """What of one user's memories a list has, apart from its order."""

    part: Narrowing
    at: datetime | None
    kind: Kind | None
    origin: Origin | None
    since: datetime | None
    until: datetime | None
    source: str | None
    words: str | None
    ids: list[MemoryId] | None
    hidden: Hidden

    async def filter_of(
        self, site: Site, scope: Owner, by: Literal["created", "updated"], *, ascending: bool
    ) -> ListFilter:
        """The filter over the memories of a scope, with search words as they are stored."""
        wanted = ListFilter(
            visible=await site.parts.memory.facts.visible(scope, at=self.at),
            hidden=self.hidden,
            kind=self.kind,
            origin=self.origin,
            since=self.since,
            until=self.until,
            session=self.source,
            words=self.words,
            metadata=self.part.metadata,
            ids=self.ids,
            by=by,
            ascending=ascending,
        )
        return await site.parts.memory.facts.personal.with_stored_words(scope, wanted)


def instant_of(text: str | None, field: str) -> datetime | None:
    """The time given in a query. Raises InvalidRequest."""
    instant = None if text is None else from_text(text)
    if text is not None and instant is None:
        raise InvalidRequest(f"{field} must be an ISO 8601 time.", code="validation_error", field=field)
    return instant


async def _conditions_of(
    part: NarrowingHere,
    at: At = None,
    kind: Kind | None = None,
    origin: Annotated[Origin | None, Query(description="where its words come from")] = None,
    since: Time = None,
    until: Time = None,
    source: Annotated[str | None, Query(description="the conversation it was learned in; not with `at`")] = None,
    q: Annotated[
        str | None, Query(max_length=LONGEST_WORDS, description="all of these words stand in it, in whatever case")
    ] = None,
    ids: Annotated[list[str] | None, Query(alias="id", description="these alone; may be repeated")] = None,
    hidden: Annotated[Hidden, Query(description="what has decayed or expired")] = "without",
) -> ListConditions:
    if at is not None and source is not None:
        raise InvalidRequest(
            "at goes not with source: only of current memories it is known where they were learned. Leave out one.",
            code="invalid_filter",
            field="source",
        )
    if ids is not None and len(ids) > MOST_IDS:
        raise InvalidRequest(f"Name at most {MOST_IDS} ids.", code="validation_error", field="id")
    return ListConditions(
        part=part,
        at=instant_of(at, "at"),
        kind=kind,
        origin=origin,
        since=instant_of(since, "since"),
        until=instant_of(until, "until"),
        source=source,
        words=q if q and q.strip() else None,
        ids=None if ids is None else [MemoryId(each) for each in ids],
        hidden=hidden,
    )


ConditionsHere = Annotated[ListConditions, Depends(_conditions_of)]
