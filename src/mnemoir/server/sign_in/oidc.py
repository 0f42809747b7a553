"""Signing in with an identity provider: the way there, the page that a browser comes back to, and the end.

The browser comes back from another site, so a cookie for this site alone would not come with it. It comes back to a
small page, which asks for the session as any page of this server does.
"""

import asyncio
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import RedirectResponse, Response

from mnemoir.app.issuers.sign_ins import WITHIN, Vouched
from mnemoir.core.errors import Conflict, Forbidden, InvalidRequest, MnemoirError
from mnemoir.core.users import User
from mnemoir.server.errors import status_of
from mnemoir.server.rest import Answer, Body, BodyOf, Routes, Site, SiteHere
from mnemoir.server.sign_in.shapes import NOT_KEPT, SignedInAnswer, Token
from mnemoir.server.sign_in.ways import check_memories, open_invitation, signed_in

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


class FinishBody(Body):
    """The state of a sign-in whose browser came back, and the token of an invitation that is open in it, if any."""

    state: Token
    invitation: Token | None = None


class FinishedAnswer(SignedInAnswer):
    """A sign-in, whose cookie comes with this answer, and the path of the page that it was begun for."""

    to: str


@router.get(
    "/api/auth/oidc/{provider}/start",
    summary="Send the browser to an identity provider to sign in",
    status_code=302,
    response_class=RedirectResponse,
)
async def start(
    request: Request, site: SiteHere, provider: str, to: Annotated[str, Query(description="a path here")] = "/"
) -> Response:
    cookies = site.guard.cookies
    try:
        if not _LOCAL.fullmatch(to):
            raise InvalidRequest("`to` must be the path of a page of this server.", code="invalid_path", field="to")
        address = f"{cookies.address_here(request.scope)}/auth/callback"
        url, token = await site.parts.access.sign_ins.begin(provider, redirect_uri=address, leads_to=to)
    except MnemoirError as exc:
        return _told(site, exc)
    seconds = int(WITHIN.total_seconds())
    headers = NOT_KEPT | {"set-cookie": cookies.setting_under_way(request.scope, token, seconds)}
    return RedirectResponse(url, 302, headers)


@router.get("/auth/callback", include_in_schema=False)
async def callback(request: Request, site: SiteHere) -> Response:
    try:
        token = site.guard.cookies.under_way(request.scope)
        await site.parts.access.sign_ins.come_back(token, dict(request.query_params))
    except MnemoirError as exc:
        return _told(site, exc)
    return _page(site, "You are being signed in …", with_script=True)


@router.get("/auth/callback.js", include_in_schema=False)
def script() -> Response:
    return Response(SCRIPT.read_bytes(), headers={"cache-control": "no-cache"}, media_type="text/javascript")


@router.post("/api/auth/oidc/finish", summary="Begin the session of a browser that came back")
async def finish(
    request: Request, site: SiteHere, body: Annotated[FinishBody, Depends(BodyOf(FinishBody))]
) -> Answer[FinishedAnswer]:
    site.guard.rate_limits.try_sign_in(request.scope, "")
    vouched = await site.parts.access.sign_ins.finish(site.guard.cookies.under_way(request.scope), body.state)
    user = await _user(request, site, vouched, body.invitation)
    return await signed_in(request, site, user, "oidc", "", to=vouched.leads_to)


async def _user(request: Request, site: Site, vouched: Vouched, invitation: str | None) -> User:
    """The user for whom a provider vouches, with what it grants now; made if that is allowed."""
    users = site.parts.access.users
    user = await asyncio.to_thread(users.of_identity, vouched.identity)
    if user is None and invitation is not None:
        user = await _invited(request, site, vouched, invitation)
    elif user is None and vouched.provider.create_users:
        user = await _named(site, vouched)
    if user is None:
        raise Forbidden(
            f"{vouched.provider.name} knows you as {vouched.names[0][:80]!r}, but nobody invited you here. Ask an "
            "admin for an invitation, and open it in this browser.",
            code="not_invited",
        )
    if user.disabled_at is None and (granted := vouched.granted_to(user.grant)) != user.grant:
        return await asyncio.to_thread(
            users.change, user, role=granted.role, is_operator=granted.is_operator, projects=granted.projects
        )
    return user


async def _invited(request: Request, site: Site, vouched: Vouched, token: str) -> User:
    invitation = await open_invitation(request, site, token)
    vouched.granted_to(invitation.grant)
    name = invitation.name or vouched.names[0]
    if invitation.resets is None and invitation.grant.memory_user is None:
        await check_memories(site, invitation.grant.tenant, name)
    join = site.parts.access.users.join
    user, _ = await asyncio.to_thread(join, token, name, identity=vouched.identity)
    return user


async def _named(site: Site, vouched: Vouched) -> User:
    """A new user by the first of the names that nobody has. Raises Conflict when all are taken."""
    grant, taken = vouched.grant, None
    for name in vouched.names:
        try:
            if grant.memory_user is None:
                await check_memories(site, grant.tenant, name)
            return await asyncio.to_thread(site.parts.access.users.create, grant, name, vouched.identity)
        except Conflict as exc:
            taken = taken or exc
    assert taken is not None  # there is at least one name
    raise taken


def _told(site: Site, exc: MnemoirError) -> Response:
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
    return Response(html, status, NOT_KEPT | _SECURITY, media_type="text/html")
