"""`/api/conversations/{id}/branches`: an outline of its tree, one entry for each run of messages without a fork."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Annotated

from fastapi import Query
from pydantic import BeforeValidator

from mnemoir.conversations.users import OwnConversations
from mnemoir.core.branches import Branch, in_tree_order
from mnemoir.core.conversations import Role
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import whole_number
from mnemoir.server.conversations.access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.cursors import InvalidCursor, read_cursor, write_cursor
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import Cursor, Routes, SiteHere

router = Routes(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

_LIST = "branches"
_MOST_LISTED = 1000
_FIRST_WORDS = 100  # characters
_AT_ONCE = 32  # messages, because each may have megabytes

Limit = Annotated[int, BeforeValidator(whole_number(100, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]


class BranchAnswer(JsonObject):
    """Consecutive messages, from the beginning of a branch to the next fork or its end.

    `of` is the number of branches that begin at the same fork, `place` the rank of this one, from 1. `text` holds the
    first words.
    """

    first_id: int
    last_id: int
    messages: int
    depth: int
    of: int
    place: int
    on_thread: bool
    ends_on_thread: bool
    role: Role
    text: str


class BranchPage(JsonObject):
    """An outline of the tree, each branch after its parent branch; `next` is the cursor of the following page."""

    results: list[BranchAnswer]
    total: int
    next: str | None


@router.get("/branches", summary="Where its messages branch")
@says("read")
async def list_branches(
    site: SiteHere, scope: OwnerHere, id: str, limit: Limit = 100, cursor: Cursor = None
) -> Answer[BranchPage]:
    after = None if cursor is None else read_cursor(cursor, _LIST, int)[0]
    async with holding(site, scope, id) as own:
        return await asyncio.to_thread(_branches_page, own, id, limit, after)


def _branches_page(own: OwnConversations, id: str, limit: int, after: str | int | None) -> Answer[BranchPage]:
    branches = in_tree_order(own.log.branch_runs(id))
    start = 0 if after is None else 1 + _place(branches, after)
    page = branches[start : start + limit]
    goes_on = len(branches) > start + limit
    body: BranchPage = {
        "results": list(_branches_json(own, page)),
        "total": len(branches),
        "next": write_cursor(_LIST, page[-1].run.first) if goes_on else None,
    }
    return Answer(body)


def _place(branches: Sequence[Branch], first: str | int) -> int:
    place = next((at for at, branch in enumerate(branches) if branch.run.first == first), None)
    if place is None:
        raise InvalidCursor
    return place


def _branches_json(own: OwnConversations, page: Sequence[Branch]) -> Iterator[BranchAnswer]:
    for start in range(0, len(page), _AT_ONCE):
        some = page[start : start + _AT_ONCE]
        begins = own.log.messages_by_id([branch.run.first for branch in some])
        for branch in some:
            message = begins[branch.run.first].message if branch.run.first in begins else None
            yield {
                "first_id": branch.run.first,
                "last_id": branch.run.last,
                "messages": branch.run.messages,
                "depth": branch.depth,
                "of": branch.of,
                "place": branch.place,
                "on_thread": branch.run.on_thread,
                "ends_on_thread": branch.run.ends_on_thread,
                "role": message.role if message else "system",
                "text": " ".join(message.text[: _FIRST_WORDS * 2].split())[:_FIRST_WORDS] if message else "",
            }
