"""MEMORY_DECAY_DAYS as an operator sets it, down to what a client sees."""

from datetime import timedelta
from urllib.parse import quote

import orjson
import pytest

from mnemoir.app import open_parts
from mnemoir.cli.serve import server_options
from mnemoir.core.clock import to_text, utc_now
from mnemoir.providers.http import call_asgi
from mnemoir.server import create_app
from mnemoir.settings import load_settings

MEMORIES = "/api/memories"


class Client:
    """Asks an app in this process."""

    def __init__(self, app):
        self._app = app

    async def ask(self, method, target, body=None):
        sent = b"" if body is None else body if isinstance(body, bytes) else orjson.dumps(body)
        answer = await call_asgi(self._app, method, target, headers={"host": "localhost"}, body=sent)
        assert answer.status == 200, answer.body
        return answer.body

    async def seen(self):
        """What listing and searching show, which must be the same."""
        listed = orjson.loads(await self.ask("GET", f"{MEMORIES}/mira"))
        found = orjson.loads(
            await self.ask("POST", f"{MEMORIES}/search", {"query": "hours old", "user_id": "mira", "limit": 0})
        )
        texts = {memory["memory"] for memory in listed["results"]}
        assert {hit["memory"] for hit in found["results"]} == texts
        return texts


@pytest.fixture
async def open_client(tmp_path):
    opened = []

    async def start(storage="sqlite", **environ):
        given = {"storage.data_dir": str(tmp_path / "data"), "llm.provider": "offline", "storage.backend": storage}
        given["storage.workspace_root"] = str(tmp_path / "workspace")
        settings = load_settings(None, given, environ=environ)
        parts = await open_parts(settings)
        opened.append(parts)
        app = create_app(parts, server_options(settings))
        return Client(app), settings

    yield start
    for parts in opened:
        await parts.aclose()


async def keep(client, hours):
    said_at = to_text(utc_now() - timedelta(hours=hours))
    message = {"role": "user", "content": f"{hours} hours old"}
    body = {"messages": [message], "user_id": "mira", "infer": False, "timestamp": said_at}
    await client.ask("POST", MEMORIES, body)


@pytest.mark.parametrize("storage", ["sqlite", "file"])
@pytest.mark.parametrize(
    ("days", "shown", "warns"),
    [
        (None, {1, 13, 9000}, False),
        ("", {1, 13, 9000}, False),
        ("0", {1, 13, 9000}, False),
        ("-3", {1, 13, 9000}, False),
        ("abc", {1, 13, 9000}, True),
        ("0.5", {1}, False),
        ("1", {1, 13}, False),
    ],
)
async def test_the_variable_hides_what_is_older_and_deletes_nothing(open_client, storage, days, shown, warns):
    client, settings = await open_client(storage, **({} if days is None else {"MEMORY_DECAY_DAYS": days}))
    for hours in (1, 13, 9000):
        await keep(client, hours)
    assert await client.seen() == {f"{hours} hours old" for hours in shown}
    assert bool(settings.warnings) is warns
    assert len((await client.ask("GET", "/api/export")).splitlines()) == 3
    deleted = orjson.loads(await client.ask("DELETE", f"{MEMORIES}?user_id=mira"))
    assert deleted["deleted"] == 3


VECTORS = [  # created, updated, visible with six days; in hours before now
    (143.9, None, True),
    (144.1, None, False),
    (144.1, 144.1, False),
    (480.0, 34.5, True),
    (34.5, 480.0, False),
    (-1000.0, None, True),
]


@pytest.mark.parametrize("zone", ["Z", "", "+02:00"])
async def test_imported_memories_are_shown_by_their_last_renewal(open_client, zone):
    client, _ = await open_client(MEMORY_DECAY_DAYS="6")

    def at(hours):
        shift = timedelta(hours=2) if zone == "+02:00" else timedelta()
        return to_text(utc_now() - timedelta(hours=hours) + shift).removesuffix("Z") + zone

    lines = []
    for created, updated, _ in VECTORS:
        line = {"memory": f"hours old: {created} {updated}", "user_id": "mira", "created_at": at(created)}
        lines.append(orjson.dumps(line | ({} if updated is None else {"updated_at": at(updated)})))
    await client.ask("POST", "/api/import", b"\n".join(lines))
    shown = {f"hours old: {created} {updated}" for created, updated, visible in VECTORS if visible}
    assert await client.seen() == shown


async def test_a_projects_own_days_win_over_the_variable(open_client):
    client, _ = await open_client(MEMORY_DECAY_DAYS="0.5")
    await keep(client, 13)
    assert await client.seen() == set()
    await client.ask("PUT", f"{MEMORIES}/settings?project={quote('default')}", {"decayDays": 2})
    assert await client.seen() == {"13 hours old"}
