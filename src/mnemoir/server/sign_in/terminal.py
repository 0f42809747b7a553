"""`/api/auth/terminal`: a person signs in on the command line; the token goes where keys go, and is no cookie."""

import asyncio
from typing import Annotated

from fastapi import Depends, Request

from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.request import header
from mnemoir.server.door.says import says
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.server.sign_in.shapes import PasswordBody, Person, address_of, kept_out, person_json
from mnemoir.server.sign_in.ways import check_may_sign_in, of_password

router = Routes(prefix="/api/auth", tags=["sign-in"])


class TerminalAnswer(JsonObject):
    """A sign-in whose `token` is sent as `Authorization: Bearer`; it is in this answer and nowhere else."""

    user: Person
    token: str


@router.post("/terminal", summary="Sign in on the command line by name and password")
@says("signing_in")
async def by_terminal(
    request: Request, site: SiteHere, body: Annotated[PasswordBody, Depends(BodyOf(PasswordBody))]
) -> Answer[TerminalAnswer]:
    user, tried = await of_password(request, site, body.name, body.password)
    await check_may_sign_in(request, site, user)
    token = await asyncio.to_thread(
        site.parts.access.sessions.begin,
        user,
        how="terminal",
        agent=header(request.scope, b"user-agent") or "",
        address=address_of(request, site),
        is_terminal=True,
    )
    tried.take_back(request, site)
    return kept_out({"user": person_json(user), "token": token})
