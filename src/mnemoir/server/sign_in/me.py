"""`/api/me…`: what people who signed in change themselves: time zone, password, recovery codes and sessions."""

import asyncio
from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from mnemoir.core.clock import to_text
from mnemoir.core.errors import InvalidRequest, Unauthorized
from mnemoir.core.users import User, password
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body, TimeZone
from mnemoir.server.door.says import says
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.server.sign_in.passkeys import AnswerBody, passkey_site
from mnemoir.server.sign_in.shapes import Password, Person, kept_out, person_json
from mnemoir.server.sign_in.ways import confirmed_user, signed_in_user, try_name
from mnemoir.server.site import Site

router = Routes(prefix="/api/me", tags=["sign-in"])


class NewPasswordBody(Body):
    """The new password. `old`, the one of now, takes the place of a sign-in within the last ten minutes."""

    old: Password | None = None
    new: Password


class MeBody(Body):
    """What you say of yourself. `time_zone` is where you live, for "tomorrow"; null takes it back."""

    time_zone: TimeZone | None


class ConfirmBody(Body):
    """Your password, or the answer of one of your passkeys to a question of /api/auth/passkey/options."""

    password: Password | None = None
    passkey: AnswerBody | None = None


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


@router.patch("", summary="Change what you say of yourself: your time zone")
@says("any")
async def change_me(
    request: Request, site: SiteHere, body: Annotated[MeBody, Depends(BodyOf(MeBody))]
) -> Answer[Person]:
    user = signed_in_user(request).user
    return kept_out(person_json(await asyncio.to_thread(site.parts.access.users.set_time_zone, user, body.time_zone)))


@router.put("/password", summary="Change your password; your other sessions end", status_code=204)
@says("any")
async def change_password(
    request: Request, site: SiteHere, body: Annotated[NewPasswordBody, Depends(BodyOf(NewPasswordBody))]
) -> Response:
    me, parts = signed_in_user(request), site.parts
    chosen = password(body.new)
    if body.old is None:
        confirmed_user(request, site)
    else:
        await _check_password(request, site, me.user, body.old)
    hashed = await parts.access.passwords.hash(chosen)
    await asyncio.to_thread(parts.access.users.set_password, me.user, hashed, keep_session=me.session.id)
    return Response(None, 204)


@router.post("/confirm", summary="Show again who you are, as some changes want it", status_code=204)
@says("any")
async def confirm(
    request: Request, site: SiteHere, body: Annotated[ConfirmBody, Depends(BodyOf(ConfirmBody))]
) -> Response:
    me, parts = signed_in_user(request), site.parts
    if (body.password is None) == (body.passkey is None):
        raise InvalidRequest("Send a password or a passkey.", code="validation_error", field="password")
    if body.passkey is None:
        await _check_password(request, site, me.user, body.password or "")
    else:
        here, answer = passkey_site(request, site), body.passkey
        signing = parts.access.passkeys.signed_in
        if await asyncio.to_thread(signing, here, answer.id, answer.credential) != me.user.id:
            raise Unauthorized("That is no passkey of yours.", code="wrong_sign_in")
    await asyncio.to_thread(parts.access.sessions.confirm, me)
    return Response(None, 204)


@router.post("/recovery-codes", summary="Ten new recovery codes; those before count no more")
@says("any")
async def recovery_codes(request: Request, site: SiteHere) -> Answer[RecoveryCodes]:
    me = confirmed_user(request, site)
    return kept_out({"recovery_codes": list(await asyncio.to_thread(site.parts.access.users.new_codes, me.user))})


@router.get("/sessions", summary="Where you are signed in")
@says("any")
async def sessions(request: Request, site: SiteHere) -> Answer[SessionList]:
    me = signed_in_user(request)
    found = await asyncio.to_thread(site.parts.access.sessions.sessions_of_user, me.user.id)
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
@says("any", act=None)
async def end_session(request: Request, site: SiteHere, session_id: str) -> Response:
    me = signed_in_user(request)
    await asyncio.to_thread(site.parts.access.sessions.end, session_id, me.user)
    return Response(None, 204)


async def _check_password(request: Request, site: Site, user: User, said: str) -> None:
    """Raise Unauthorized unless it is the password of a user, and RateLimited after too many tries."""
    tried = await try_name(request, site, user.name, device=f"session {signed_in_user(request).session.id}")
    _, hash = await asyncio.to_thread(site.parts.access.users.with_hash, user.name) or (None, None)
    if not await site.parts.access.passwords.is_right(said, hash):
        raise Unauthorized("That is not your password.", code="wrong_sign_in")
    tried.take_back(request, site)
