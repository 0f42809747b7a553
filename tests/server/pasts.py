"""Pasts for tests: exports of chats as another program wrote them, and what comes of an import."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from tests.server.server_kit import Server

JSON = dict[str, Any]
USER = "mira"


def chat(id: str, *said: tuple[str, str, str]) -> JSON:
    """A chat of ChatGPT's export: each message by its role, its day and its words."""
    mapping: JSON = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    before = "root"
    for number, (role, day, text) in enumerate(said):
        name = f"{id}-{number}"
        at = datetime.fromisoformat(day).replace(hour=12, minute=number % 60, tzinfo=UTC).timestamp()
        content = {"content_type": "text", "parts": [text]}
        mapping[name] = {
            "id": name,
            "parent": before,
            "children": [],
            "message": {"id": name, "author": {"role": role}, "create_time": at, "content": content},
        }
        mapping[before]["children"].append(name)
        before = name
    return {"id": id, "title": id, "mapping": mapping, "current_node": before}


def export(*chats: JSON) -> bytes:
    return json.dumps(list(chats)).encode()


def user_says(*said: tuple[str, str]) -> list[tuple[str, str, str]]:
    """User turns by day and words, each with an answer."""
    return [turn for day, text in said for turn in (("user", day, text), ("assistant", day, "I see."))]


async def bring(server: Server, file: bytes, **query: str) -> str:
    """Import a file; the id of the import."""
    more = "".join(f"&{name}={value}" for name, value in query.items())
    told = await server.post(f"/api/conversations/import?user_id={USER}{more}", file)
    id: str = told["import_id"]
    return id


async def estimated(server: Server, id: str) -> JSON:
    found: JSON = await server.get(f"/api/imports/{id}/estimate?user_id={USER}")
    return found


async def begin(server: Server, id: str) -> JSON:
    """Begin to learn from an import, with what its estimate says."""
    told = await estimated(server, id)
    agreed = {name: told[name] for name in ("model", "least_calls", "most_calls")}
    begun: JSON = await server.post(f"/api/imports/{id}/learn?user_id={USER}", agreed)
    return begun


async def until(holds: Callable[[], Awaitable[object]]) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(120):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.03)


async def standing(server: Server, id: str) -> JSON:
    told: JSON = await server.get(f"/api/imports/{id}?user_id={USER}")
    return told


async def ended(server: Server, id: str, states: Iterable[str] = ("learned", "stopped", "undone")) -> JSON:
    """How it stands with an import when nothing goes on with it any more."""
    wanted = set(states)

    async def has_ended() -> bool:
        return (await standing(server, id))["state"] in wanted

    await until(has_ended)
    return await standing(server, id)


async def learn(server: Server, id: str) -> JSON:
    await begin(server, id)
    return await ended(server, id)


async def undo(server: Server, id: str) -> JSON:
    await server.post(f"/api/imports/{id}/undo?user_id={USER}", {})
    return await ended(server, id, ["undone"])


async def memories(server: Server) -> list[str]:
    """The current memories, in order of the alphabet."""
    found = await server.get(f"/api/memories/{USER}?limit=1000")
    return sorted(one["memory"] for one in found["results"])


async def tell(server: Server, text: str, day: str) -> None:
    """Say something in a chat of that day."""
    said = {"messages": [{"role": "user", "content": text}], "user_id": USER, "timestamp": f"{day}T12:00:00Z"}
    await server.post("/api/memories", said)
