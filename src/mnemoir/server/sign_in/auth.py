"""`/api/auth`: signing in and out, and joining by an invitation. These routes need no credential."""

import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import Response

from mnemoir.access.keyless_clients import KeylessClient
from mnemoir.core.errors import Conflict, Forbidden, InvalidRequest
from mnemoir.core.scope import Role
from mnemoir.core.users import password
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body
from mnemoir.server.door.says import says
from mnemoir.server.door.sessions import csrf_in, signed_in_of
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.server.sign_in.passkeys import joining, passkey_site, why_no_passkeys
from mnemoir.server.sign_in.shapes import (
    Password,
    PasswordBody,
    Person,
    SignedInAnswer,
    Token,
    address_of,
    begin_session,
    is_operator,
    kept_out,
    names_json,
    person_json,
    time_json,
    with_cookies,
)
from mnemoir.server.sign_in.ways import (
    check_join,
    of_password,
    open_invitation,
    signed_in,
    try_name,
    wrong_sign_in,
)
from mnemoir.settings.addresses import is_loopback

router = Routes(prefix="/api/auth", tags=["sign-in"])


class RecoveryBody(Body):
    """A name and one of its recovery codes."""

    name: Token
    code: Token


class TokenBody(Body):
    """The token of an invitation: what stands behind `#` in its link, or a code from the terminal."""

    token: Token


class JoiningPasskey(Body):
    """The id of the question that /join/passkey/options asked, and the browser's answer."""

    id: Token
    credential: dict[str, Any]


class JoinBody(TokenBody):
    """A name, and a password or a passkey, for whoever was invited. One that resets a user keeps their name."""

    name: Token
    password: Password | None = None
    passkey: JoiningPasskey | None = None


class PasskeyWay(JsonObject):
    """Whether passkeys can be used at this address, and if not, why."""

    available: bool
    reason: str | None


class Issuer(JsonObject):
    """An identity provider that people sign in with."""

    id: str
    name: str


class Ways(JsonObject):
    """The ways to sign in."""

    password: bool
    passkey: PasskeyWay
    oidc: list[Issuer]


class Auth(JsonObject):
    """Who signed in, and how one can. `required`: requests need a key or a sign-in. `secure`: it is at https."""

    required: bool
    has_users: bool
    user: Person | None
    csrf: str | None
    ways: Ways
    secure: bool


class InvitationAnswer(JsonObject):
    """What an invitation is for. `resets`: it gives the user of that name a new password or passkey."""

    name: str | None
    tenant: str
    role: Role
    operator: bool
    memory_user: str | None
    projects: list[str] | None
    configs: list[str] | None
    by: str
    expires_at: str | None
    resets: bool


class Joined(JsonObject):
    """A new user, signed in, with ten recovery codes that are shown this once."""

    user: Person
    csrf: str
    recovery_codes: list[str]


class KeylessClientList(JsonObject):
    """The kinds of clients that called without a key in the last week, latest first."""

    results: Sequence[KeylessClient]


class CodePrinted(JsonObject):
    """The code stands in the terminal of the server."""

    printed: bool


@router.get("", summary="Who signed in, and which ways there are to sign in")
@says("signing_in")
async def auth(request: Request, site: SiteHere) -> Answer[Auth]:
    me, no_passkeys = signed_in_of(request.scope), why_no_passkeys(request, site)
    return kept_out(
        {
            "required": site.guard.needs_key,
            "has_users": site.parts.access.users.are_there,
            "user": None if me is None else person_json(me.user),
            "csrf": csrf_in(request.scope),
            "ways": {
                "password": True,
                "passkey": {"available": no_passkeys is None, "reason": no_passkeys},
                "oidc": [{"id": one.id, "name": one.name} for one in site.parts.access.sign_ins.providers],
            },
            "secure": site.guard.cookies.is_secure(request.scope),
        }
    )


@router.get("/clients", summary="Which clients called without a key in the last week: they will need one")
@says("manage")
async def clients(site: SiteHere) -> Answer[KeylessClientList]:
    return kept_out({"results": site.parts.access.keyless_clients.recent_clients()})


@router.post("/password", summary="Sign in by name and password")
@says("signing_in")
async def by_password(
    request: Request, site: SiteHere, body: Annotated[PasswordBody, Depends(BodyOf(PasswordBody))]
) -> Answer[SignedInAnswer]:
    user, tried = await of_password(request, site, body.name, body.password)
    return await signed_in(request, site, user, "password", tried)


@router.post("/recovery", summary="Sign in by name and a recovery code, which is then used up")
@says("signing_in")
async def by_recovery(
    request: Request, site: SiteHere, body: Annotated[RecoveryBody, Depends(BodyOf(RecoveryBody))]
) -> Answer[SignedInAnswer]:
    tried = await try_name(request, site, body.name)
    user = await asyncio.to_thread(site.parts.access.users.redeem_recovery_code, body.name, body.code)
    if user is None:
        raise wrong_sign_in(request, site)
    return await signed_in(request, site, user, "recovery", tried)


@router.post("/sign-out", summary="End the session of this browser or terminal", status_code=204)
@says("signing_in")
async def sign_out(request: Request, site: SiteHere) -> Response:
    me = signed_in_of(request.scope)
    if me is not None:
        site.guard.cookies.check(request.scope)
    else:
        me = site.guard.on_terminal(request.scope)
    if me is not None:
        await asyncio.to_thread(site.parts.access.sessions.end, me.session.id, me.user)
    return Response(None, 204, {"set-cookie": site.guard.cookies.removing(request.scope)})


@router.post("/invitation", summary="What an invitation is for")
@says("signing_in")
async def invitation(
    request: Request, site: SiteHere, body: Annotated[TokenBody, Depends(BodyOf(TokenBody))]
) -> Answer[InvitationAnswer]:
    found = await open_invitation(request, site, body.token)
    return kept_out(
        {
            "name": found.name,
            "tenant": found.grant.tenant,
            "role": found.grant.role,
            "operator": is_operator(found.grant),
            "memory_user": found.grant.memory_user,
            "projects": names_json(found.grant.projects),
            "configs": names_json(found.grant.configs),
            "by": found.created_by,
            "expires_at": time_json(found.expires_at),
            "resets": found.resets is not None,
        }
    )


@router.post("/join", summary="Become a user by an invitation, which counts once")
@says("signing_in")
async def join(
    request: Request, site: SiteHere, body: Annotated[JoinBody, Depends(BodyOf(JoinBody))]
) -> Answer[Joined]:
    invited = await open_invitation(request, site, body.token)
    if (body.password is None) == (body.passkey is None):
        raise InvalidRequest("Send a password or a passkey.", code="validation_error", field="password")
    await check_join(site, invited, body.name)
    joining_by = partial(site.parts.access.users.join, body.token, body.name)
    if body.passkey is not None:
        new = await asyncio.to_thread(
            site.parts.access.passkeys.verify_new_passkey,
            passkey_site(request, site),
            joining(invited.id),
            body.passkey.id,
            body.passkey.credential,
            "",
        )
        user, codes = await asyncio.to_thread(joining_by, passkey=new)
    else:
        hash = await site.parts.access.passwords.hash(password(body.password or ""))
        user, codes = await asyncio.to_thread(joining_by, password_hash=hash)
    csrf, cookies = await asyncio.to_thread(begin_session, request, site, user, "invitation")
    told: Joined = {"user": person_json(user), "csrf": csrf, "recovery_codes": list(codes)}
    return with_cookies(Answer(told), cookies)


@router.post("/first-code", summary="Print a code for the first admin in the terminal of the server", status_code=202)
@says("signing_in")
async def first_code(request: Request, site: SiteHere) -> Answer[CodePrinted]:
    address = address_of(request, site)
    if address and not is_loopback(address):
        raise Forbidden("The code is printed for a page on the machine of the server only.", code="not_this_machine")
    if site.parts.access.users.are_there:
        instead = "ask an admin to invite you" if site.guard.needs_key else "run `mnemoir keys enable` on the machine"
        raise Conflict(f"There are users already: {instead}.", code="has_users")
    site.guard.rate_limits.try_sign_in(request.scope, "")
    code = await asyncio.to_thread(site.parts.access.users.invite_first)
    line = f"Code for the first admin, for ten minutes: {code}"
    rule = "=" * len(line)
    print(f"\n{rule}\n{line}\n{rule}\n", file=sys.stderr, flush=True)  # noqa: T201
    return kept_out({"printed": True}, 202)
