"""Signing in with an identity provider: the way there, the page that a browser comes back to, and the end.

The browser comes back from another site, so a cookie for this site alone would not come with it. It comes back to a
small page, which asks for the session as any page of this server does.
"""

import asyncio
import re
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import RedirectResponse, Response

from mnemoir.access.issuers.sign_ins import WITHIN, Vouched
from mnemoir.core.errors import Conflict, Forbidden, InvalidRequest, MnemoirError
from mnemoir.core.users import User
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body
from mnemoir.server.door.errors import status_of
from mnemoir.server.door.says import says
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.server.sign_in.shapes import SignedInAnswer, Token
from mnemoir.server.sign_in.ways import Tried, check_join, check_memories, open_invitation, signed_in
from mnemoir.server.site import Site

router = Routes(tags=["sign-in"])

SCRIPT = Path(__file__).with_name("callback.js")
_STYLE = (
    ":root { color-scheme: light dark; } body { font: 16px/1.5 Inter, system-ui, sans-serif; max-width: 32rem; "
    "margin: 20vh auto; padding: 0 1rem; }"
)
_SECURITY = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
        "script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
_LOCAL = re.compile(r"/(?![/\\])[^\\\s\x00-\x1f\x7f]{0,2000}")


class StartBody(Body):
    """The path of the page to come to in the end, and the token of an invitation by which somebody joins, if any."""

    to: str = "/"
    invitation: Token | None = None


class Started(JsonObject):
    """The address at which the browser signs in. The cookie by which it is known again comes with this answer."""

    url: str


class FinishBody(Body):
    """The state of a sign-in whose browser came back."""

    state: Token


class FinishedAnswer(SignedInAnswer):
    """A sign-in, whose cookie comes with this answer, and the path of the page that it was begun for."""

    to: str


@router.get(
    "/api/auth/oidc/{provider}/start",
    summary="Send the browser to an identity provider to sign in",
    status_code=302,
    response_class=RedirectResponse,
)
@says("signing_in")
async def start(
    request: Request, site: SiteHere, provider: str, to: Annotated[str, Query(description="a path here")] = "/"
) -> Response:
    try:
        url, headers = await _begin_sign_in(request, site, provider, to, None)
    except MnemoirError as exc:
        return _error_page(site, exc)
    return RedirectResponse(url, 302, headers)


@router.post(
    "/api/auth/oidc/{provider}/start",
    summary="The address of an identity provider to sign in at, also to join by an invitation",
)
@says("signing_in")
async def start_with_invitation(
    request: Request, site: SiteHere, provider: str, body: Annotated[StartBody, Depends(BodyOf(StartBody))]
) -> Answer[Started]:
    if body.invitation is not None:
        await open_invitation(request, site, body.invitation)
    url, headers = await _begin_sign_in(request, site, provider, body.to, body.invitation)
    return Answer({"url": url}, headers=headers)


@router.get("/auth/callback", include_in_schema=False)
@says("open", query=("state", "code", "iss", "error", "error_description"))  # providers add more
async def callback(request: Request, site: SiteHere) -> Response:
    try:
        token = site.guard.cookies.under_way(request.scope)
        await site.parts.access.sign_ins.come_back(token, dict(request.query_params))
    except MnemoirError as exc:
        return _error_page(site, exc)
    return _page(site, "You are being signed in …", with_script=True)


@router.get("/auth/callback.js", include_in_schema=False)
@says("open")
def script() -> Response:
    return Response(SCRIPT.read_bytes(), headers={"cache-control": "no-cache"}, media_type="text/javascript")


@router.post("/api/auth/oidc/finish", summary="Begin the session of a browser that came back")
@says("signing_in")
async def finish(
    request: Request, site: SiteHere, body: Annotated[FinishBody, Depends(BodyOf(FinishBody))]
) -> Answer[FinishedAnswer]:
    site.guard.rate_limits.try_sign_in(request.scope, "")
    vouched = await site.parts.access.sign_ins.finish(site.guard.cookies.under_way(request.scope), body.state)
    user = await _user(request, site, vouched)
    return await signed_in(request, site, user, "oidc", Tried(), to=vouched.leads_to)


async def _begin_sign_in(
    request: Request, site: Site, provider: str, to: str, invitation: str | None
) -> tuple[str, dict[str, str]]:
    """The address for a browser, and the headers of the answer. Raises InvalidRequest, NotFound and RateLimited."""
    site.guard.rate_limits.begin_sign_in(request.scope)
    if not _LOCAL.fullmatch(to):
        raise InvalidRequest("`to` must be the path of a page of this server.", code="invalid_path", field="to")
    cookies = site.guard.cookies
    address = f"{cookies.address_here(request.scope)}/auth/callback"
    begin = site.parts.access.sign_ins.begin
    url, token = await begin(provider, redirect_uri=address, leads_to=to, invitation=invitation)
    seconds = int(WITHIN.total_seconds())
    return url, {"set-cookie": cookies.setting_under_way(request.scope, token, seconds)}


async def _user(request: Request, site: Site, vouched: Vouched) -> User:
    """The user for whom a provider vouches, with what it grants now; made if that is allowed."""
    users = site.parts.access.users
    user = await asyncio.to_thread(users.of_identity, vouched.identity)
    if user is None and vouched.invitation is not None:
        user = await _join_by_invitation(request, site, vouched, vouched.invitation)
    elif user is None and vouched.provider.create_users:
        user = await _create_user(site, vouched)
    if user is None:
        raise Forbidden(
            f"{vouched.provider.name} knows you as {vouched.names[0][:80]!r}, but nobody invited you here. Ask an "
            "admin for an invitation, and join by its link.",
            code="not_invited",
        )
    if user.disabled_at is None and (granted := vouched.granted_to(user.grant)) != user.grant:
        return await asyncio.to_thread(
            users.change, user, role=granted.role, is_operator=granted.is_operator, projects=granted.projects
        )
    return user


async def _join_by_invitation(request: Request, site: Site, vouched: Vouched, hash: bytes) -> User:
    """A new user by an invitation, or the one whom it gives new secrets."""
    invitation = await open_invitation(request, site, hash)
    vouched.granted_to(invitation.grant)

    async def join(name: str) -> User:
        await check_join(site, invitation, name)
        joining = site.parts.access.users.join
        user, _ = await asyncio.to_thread(joining, hash, name, identity=vouched.identity)
        return user

    return await _by_first_free([invitation.name] if invitation.name else vouched.names, join)


async def _create_user(site: Site, vouched: Vouched) -> User:
    """A new user without an invitation."""
    grant = vouched.grant

    async def create(name: str) -> User:
        if grant.memory_user is None:
            await check_memories(site, grant.tenant, name)
        return await asyncio.to_thread(site.parts.access.users.create, grant, name, vouched.identity)

    return await _by_first_free(vouched.names, create)


async def _by_first_free(names: Sequence[str], make: Callable[[str], Awaitable[User]]) -> User:
    """The user that is made by the first of the names that nobody has. Raises Conflict when all are taken."""
    taken = None
    for name in names:
        try:
            return await make(name)
        except Conflict as exc:
            taken = taken or exc
    assert taken is not None  # there is at least one name
    raise taken


def _error_page(site: Site, exc: MnemoirError) -> Response:
    return _page(site, exc.message, status=status_of(exc))


def _page(site: Site, said: str, *, status: int = 200, with_script: bool = False) -> Response:
    root = escape(site.options.root_path)
    script = f'<script src="{root}/auth/callback.js" defer></script>' if with_script else ""
    hidden = " hidden" if with_script else ""
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Sign in to Mnemoir</title><style>{_STYLE}</style>{script}</head><body>"
        f'<h1>Mnemoir</h1><p id="told" role="status">{escape(said)}</p>'
        f'<p id="back"{hidden}><a href="{root}/">Back to Mnemoir</a></p></body></html>'
    )
    return Response(html, status, _SECURITY, media_type="text/html")
