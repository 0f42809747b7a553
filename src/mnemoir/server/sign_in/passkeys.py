"""Passkeys of the page: where they work, signing in, joining, and the passkeys of the signed-in user."""

import asyncio
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.responses import Response

from mnemoir.access.sign_in.passkeys import Site as PasskeySite
from mnemoir.core.clock import to_text
from mnemoir.core.errors import InvalidRequest, NotFound
from mnemoir.core.users import Passkey, user_name
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body
from mnemoir.server.door.says import says
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.server.sign_in.shapes import (
    SignedInAnswer,
    Token,
    kept_out,
    time_json,
)
from mnemoir.server.sign_in.ways import (
    Tried,
    confirmed_user,
    open_invitation,
    signed_in,
    signed_in_user,
    wrong_sign_in,
)
from mnemoir.server.site import Site
from mnemoir.settings.addresses import is_loopback

router = Routes(prefix="/api", tags=["sign-in"])


class AnswerBody(Body):
    """The id of the question, and the browser's answer: its `PublicKeyCredential` as JSON."""

    id: Token
    credential: dict[str, Any]


class NewPasskeyBody(AnswerBody):
    """The same for a new passkey, with a name for it."""

    label: str = ""


class JoiningBody(Body):
    """The token of an invitation, and the name that was chosen."""

    token: Token
    name: Token


class Question(JsonObject):
    """What the browser is to sign: `options` is the JSON form of WebAuthn."""

    id: str
    options: dict[str, Any]


class PasskeyRecord(JsonObject):
    """A passkey of yours."""

    id: str
    label: str
    created_at: str
    last_used_at: str | None


class PasskeyList(JsonObject):
    """Your passkeys, oldest first."""

    results: list[PasskeyRecord]


@router.post("/auth/passkey/options", summary="A question that any passkey of this browser may answer")
@says("signing_in")
async def ask_to_sign_in(request: Request, site: SiteHere) -> Answer[Question]:
    site.guard.rate_limits.try_sign_in(request.scope, "")
    here = passkey_site(request, site)
    if not site.parts.access.users.are_there:
        raise InvalidRequest("Nobody has a passkey here yet.", code="no_users")
    asked, options = await asyncio.to_thread(site.parts.access.passkeys.ask_to_sign_in, here)
    return kept_out({"id": asked, "options": dict(options)})


@router.post("/auth/passkey", summary="Sign in by a passkey")
@says("signing_in")
async def by_passkey(
    request: Request, site: SiteHere, body: Annotated[AnswerBody, Depends(BodyOf(AnswerBody))]
) -> Answer[SignedInAnswer]:
    here, parts = passkey_site(request, site), site.parts
    user_id = await asyncio.to_thread(parts.access.passkeys.signed_in, here, body.id, body.credential)
    if user_id is None:
        raise wrong_sign_in(request, site)
    try:
        user = await asyncio.to_thread(parts.access.users.get, user_id)
    except NotFound:
        raise wrong_sign_in(request, site) from None
    return await signed_in(request, site, user, "passkey", Tried())


@router.post("/auth/join/passkey/options", summary="A question by which somebody joins with a new passkey")
@says("signing_in")
async def ask_to_join(
    request: Request, site: SiteHere, body: Annotated[JoiningBody, Depends(BodyOf(JoiningBody))]
) -> Answer[Question]:
    here = passkey_site(request, site)
    invited = await open_invitation(request, site, body.token)
    name = user_name(body.name if invited.resets is None else invited.name)
    asking = site.parts.access.passkeys.ask_for_new
    asked, options = await asyncio.to_thread(asking, here, joining(invited.id), name, invited.resets or invited.id)
    return kept_out({"id": asked, "options": dict(options)})


@router.get("/me/passkeys", summary="Your passkeys")
@says("any")
async def passkeys(request: Request, site: SiteHere) -> Answer[PasskeyList]:
    me = signed_in_user(request)
    found = await asyncio.to_thread(site.parts.access.passkeys.of_user, me.user)
    return kept_out({"results": [_json(one) for one in found]})


@router.post("/me/passkeys/options", summary="A question by which you get a new passkey")
@says("any")
async def ask_for_new(request: Request, site: SiteHere) -> Answer[Question]:
    me, here = confirmed_user(request, site), passkey_site(request, site)
    user, asking = me.user, site.parts.access.passkeys.ask_for_new
    asked, options = await asyncio.to_thread(asking, here, _adding(user.id), user.name, user.id, user)
    return kept_out({"id": asked, "options": dict(options)})


@router.post("/me/passkeys", summary="Keep a new passkey", status_code=201)
@says("any")
async def add(
    request: Request, site: SiteHere, body: Annotated[NewPasskeyBody, Depends(BodyOf(NewPasskeyBody))]
) -> Answer[PasskeyRecord]:
    me, here, known = confirmed_user(request, site), passkey_site(request, site), site.parts.access.passkeys
    purpose = _adding(me.user.id)
    new = await asyncio.to_thread(known.verify_new_passkey, here, purpose, body.id, body.credential, body.label)
    return kept_out(_json(await asyncio.to_thread(known.add, me.user, new)), 201)


@router.delete("/me/passkeys/{passkey_id}", summary="Remove one of your passkeys", status_code=204)
@says("any", act=None)
async def remove(request: Request, site: SiteHere, passkey_id: str) -> Response:
    me = signed_in_user(request)
    await asyncio.to_thread(site.parts.access.passkeys.remove, passkey_id, me.user)
    return Response(None, 204)


def passkey_site(request: Request, site: Site) -> PasskeySite:
    """What passkeys made on this page are for. Raises InvalidRequest where browsers make none."""
    why = why_no_passkeys(request, site)
    if why is not None:
        raise InvalidRequest(why, code="no_passkeys_here")
    origin = site.guard.cookies.page_origin(request.scope)
    return PasskeySite(urlsplit(origin).hostname or "", origin)


def why_no_passkeys(request: Request, site: Site) -> str | None:
    """Why the page's address has no passkeys; None where it has."""
    origin = site.guard.cookies.page_origin(request.scope)
    parts = urlsplit(origin)
    host = parts.hostname or ""
    if host == "localhost" or (parts.scheme == "https" and not _is_address(host)):
        return None
    instead = f" Open http://localhost:{parts.port or 80} instead." if is_loopback(host) else ""
    return f"Passkeys work at https addresses with a name, and at http://localhost; this is {origin}.{instead}"


def joining(invitation_id: str) -> str:
    """The purpose of a question by which somebody joins."""
    return f"join {invitation_id}"


def _adding(user_id: str) -> str:
    return f"add {user_id}"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _json(passkey: Passkey) -> PasskeyRecord:
    return {
        "id": passkey.id,
        "label": passkey.label,
        "created_at": to_text(passkey.created_at),
        "last_used_at": time_json(passkey.last_used_at),
    }
