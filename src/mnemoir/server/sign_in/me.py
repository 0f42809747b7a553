"""`/api/me/…`: what people who signed in change themselves: password, recovery codes and sessions."""

import asyncio
from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from mnemoir.core.clock import to_text
from mnemoir.core.errors import Unauthorized
from mnemoir.core.users import called, password
from mnemoir.server.rest import Answer, Body, BodyOf, JsonObject, Routes, SiteHere
from mnemoir.server.sign_in.shapes import NOT_KEPT, Password, kept_out
from mnemoir.server.sign_in.ways import whoever_signed_in

router = Routes(prefix="/api/me", tags=["sign-in"])


class NewPasswordBody(Body):
    """The password of now, and the one that takes its place. `old` is left out where there is none yet."""

    old: Password = ""
    new: Password


class SessionRecord(JsonObject):
    """A sign-in in a browser. `is_current`: that of this request."""

    id: str
    created_at: str
    last_seen_at: str
    agent: str
    address: str
    is_current: bool


class SessionList(JsonObject):
    """Your sessions, newest first."""

    results: list[SessionRecord]


class RecoveryCodes(JsonObject):
    """Ten codes, each of which signs you in once. They are shown this once."""

    recovery_codes: list[str]


@router.put("/password", summary="Change your password; your other sessions end", status_code=204)
async def change_password(
    request: Request, site: SiteHere, body: Annotated[NewPasswordBody, Depends(BodyOf(NewPasswordBody))]
) -> Response:
    me, parts = whoever_signed_in(request), site.parts
    chosen, name = password(body.new), called(me.user.name)
    site.guard.rate_limits.try_sign_in(request.scope, name)
    _, hash = await asyncio.to_thread(parts.access.users.with_hash, me.user.name) or (None, None)
    if hash is not None and not await parts.access.passwords.is_right(body.old, hash):
        raise Unauthorized("The password of now is another one.", code="wrong_sign_in")
    site.guard.rate_limits.has_signed_in(request.scope, name)
    hashed = await parts.access.passwords.hash(chosen)
    await asyncio.to_thread(parts.access.users.set_password, me.user, hashed, keep_session=me.session.id)
    return Response(None, 204, NOT_KEPT)


@router.post("/recovery-codes", summary="Ten new recovery codes; those before count no more")
async def recovery_codes(request: Request, site: SiteHere) -> Answer[RecoveryCodes]:
    me = whoever_signed_in(request)
    return kept_out({"recovery_codes": list(await asyncio.to_thread(site.parts.access.users.new_codes, me.user))})


@router.get("/sessions", summary="Where you are signed in")
async def sessions(request: Request, site: SiteHere) -> Answer[SessionList]:
    me = whoever_signed_in(request)
    found = await asyncio.to_thread(site.parts.access.sessions.listed, me.user.id)
    return kept_out(
        {
            "results": [
                {
                    "id": one.id,
                    "created_at": to_text(one.created_at),
                    "last_seen_at": to_text(one.last_seen_at),
                    "agent": one.agent,
                    "address": one.address,
                    "is_current": one.id == me.session.id,
                }
                for one in found
            ]
        }
    )


@router.delete("/sessions/{session_id}", summary="End one of your sessions", status_code=204)
async def end_session(request: Request, site: SiteHere, session_id: str) -> Response:
    me = whoever_signed_in(request)
    await asyncio.to_thread(site.parts.access.sessions.end, session_id, me.user)
    return Response(None, 204, NOT_KEPT)
