"""What narrows a request to a part of one user's memories, in the query of a request."""

from typing import Annotated

from fastapi import Depends, Query

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import entity_name
from mnemoir.server.door.request import parse_own_json
from mnemoir.server.memories.narrowing import InvalidFilter, Metadata, Narrowing, wanted_metadata


async def _part_of(
    agent_id: Annotated[str | None, Query(description="memories of this agent alone")] = None,
    app_id: Annotated[str | None, Query(description="memories of this application alone")] = None,
    run_id: Annotated[str | None, Query(description="memories of this run alone")] = None,
    metadata: Annotated[
        str | None,
        Query(description="a JSON object: memories whose metadata have its members, by value or one of a list"),
    ] = None,
) -> Narrowing:
    named = {"agent_id": agent_id, "app_id": app_id, "run_id": run_id}
    ids = {field: None if name is None else entity_name(name, field) for field, name in named.items()}
    return Narrowing(**ids, metadata=None if metadata is None else _metadata_of(metadata))


def _metadata_of(text: str) -> Metadata:
    try:
        return wanted_metadata(parse_own_json(text.encode("utf-8", "surrogatepass")))
    except InvalidRequest as exc:
        if exc.code in (InvalidFilter.code, "repeated_parameter"):
            raise
        raise InvalidFilter('metadata must be JSON, as {"topic": "food"}.', field="metadata") from None


NarrowingHere = Annotated[Narrowing, Depends(_part_of)]
