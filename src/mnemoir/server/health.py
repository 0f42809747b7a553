"""`/health`: whether the server and its storage work. What watches a server asks it all day, and nothing else."""

import asyncio
from typing import Literal

from starlette.types import ASGIApp, Receive, Scope, Send

from mnemoir import __version__
from mnemoir.app.parts import Parts
from mnemoir.core.errors import MnemoirError, StorageUnavailable
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.errors import failure, outward, status_of
from mnemoir.server.door.request import visit_of
from mnemoir.server.door.says import DirectRoute, declare, says
from mnemoir.server.site import Site


class Health(JsonObject):
    """The health of the server. `llm` is `missing` where the offline model replaces a real one."""

    status: Literal["ok"]
    version: str
    storage: Literal["ok"]
    llm: Literal["configured", "missing"]


class Unhealthy(JsonObject):
    """Health where the storage fails, with the members of an error."""

    status: Literal["unavailable"]
    version: str
    storage: Literal["unavailable"]
    llm: Literal["configured", "missing"]
    detail: str
    error: str
    code: str
    request_id: str


def _llm(parts: Parts) -> Literal["configured", "missing"]:
    """`configured` when a real model answers chats: the server's own, or those named in a config tree."""
    return (
        "configured" if parts.trees.workflows.serves_tree or parts.models.in_use.provider != "offline" else "missing"
    )


def health(parts: Parts) -> Health:
    """The health of a server whose storage works."""
    return {"status": "ok", "version": __version__, "storage": "ok", "llm": _llm(parts)}


async def unhealthy(scope: Scope, site: Site, *, writes: bool = False) -> Answer[Unhealthy] | None:
    """The answer when the storage fails, or the file of keys is gone; None when both work.

    Each folder and the database was written to in the last second; with `writes` they are now, and the keys of
    encryption are looked for.
    """
    try:
        await site.parts.memory.store.check()
        await asyncio.to_thread(site.parts.access.file.look, now=True)
        if not writes:
            await site.parts.chats.stock.check_recent_writes()
        else:
            await site.parts.chats.stock.check_writes()
            await site.parts.upkeep.encryption.check()
    except StorageUnavailable as exc:
        told_of = outward(exc).message
        told: Unhealthy = {
            "status": "unavailable",
            "version": __version__,
            "storage": "unavailable",
            "llm": _llm(site.parts),
            "detail": told_of,
            "error": told_of,
            "code": exc.code,
            "request_id": visit_of(scope).request_id,
        }
        return Answer(told, status_of(exc))
    return None


@says("open", query=())
def _health_application(site: Site) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            refusal = await unhealthy(scope, site)
        except MnemoirError as exc:
            await failure(scope, exc)(scope, receive, send)
        else:
            told = Answer(health(site.parts)) if refusal is None else refusal
            await told(scope, receive, send)

    return answer


ROUTES = (
    DirectRoute("/health", _health_application, methods=["GET"]),
    DirectRoute("/api/health", _health_application, methods=["GET"], include_in_schema=False),
)
for _route in ROUTES:
    declare(_route)
