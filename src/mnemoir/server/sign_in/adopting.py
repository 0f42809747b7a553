"""`/api/users/{id}/adopt`: gives what is kept under a memory user to a person, or tells how much that is."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Query, Request

from mnemoir.core.errors import Conflict
from mnemoir.core.scope import entity_name
from mnemoir.core.users import User
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body
from mnemoir.server.door.says import says
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.server.sign_in.shapes import Token, kept_out
from mnemoir.server.sign_in.users import caller_and_user
from mnemoir.server.site import Site
from mnemoir.upkeep.adopting import ROWS

router = Routes(prefix="/api", tags=["sign-in"])

_MOST_USERS = 100_000  # of a tenant, looked through for one


class AdoptBody(Body):
    """The memory user whose memories and conversations are given; without one, that of callers who name none."""

    from_user: Token | None = None


class AdoptAnswer(JsonObject):
    """The projects in which memories were given to the user, and those in which conversations were."""

    from_user: str
    to_user: str | None
    memories: Sequence[str]
    conversations: Sequence[str]


class AdoptableAnswer(JsonObject):
    """How much is kept under a memory user, that could be given."""

    from_user: str
    memories: int
    conversations: int


@router.get("/users/{user_id}/adopt", summary="How much is kept under a memory user and could be given to a user")
@says("manage")
async def adoptable(
    request: Request,
    site: SiteHere,
    user_id: str,
    from_user: Annotated[str | None, Query(description="else that of callers who name none")] = None,
) -> Answer[AdoptableAnswer]:
    _, user = await caller_and_user(request, site, user_id, "users.adopt")
    given = site.options.default_user if from_user is None else entity_name(from_user, "from_user")
    await asyncio.to_thread(_check_is_free, site, user, given)
    found = await site.parts.upkeep.adoption.look(user, given)
    return kept_out({"from_user": given, "memories": found["memories"], "conversations": found["conversations"]})


@router.post("/users/{user_id}/adopt", summary="Give what is kept under a memory user to a user who has nothing yet")
@says("manage", act="users.adopt", exact=True)
async def adopt(
    request: Request, site: SiteHere, user_id: str, body: Annotated[AdoptBody, Depends(BodyOf(AdoptBody))]
) -> Answer[AdoptAnswer]:
    _, user = await caller_and_user(request, site, user_id, "users.adopt")
    given = site.options.default_user if body.from_user is None else entity_name(body.from_user, "from_user")
    await asyncio.to_thread(_check_is_free, site, user, given)
    done = await site.parts.upkeep.adoption.adopt(user, given)
    return kept_out(
        {
            "from_user": given,
            "to_user": user.grant.memory_user,
            "memories": done.of(ROWS),
            "conversations": done.of("conversation"),
        }
    )


def _check_is_free(site: Site, user: User, given: str) -> None:
    """Raise Conflict where the memories are those of somebody else who signs in."""
    people = site.parts.access.users.users_page(user.grant.tenant, limit=_MOST_USERS)
    if any(one.grant.memory_user == given and one.id != user.id for one in people):
        raise Conflict(f"The memories of {given[:80]!r} are somebody else's.", code="memories_taken")
