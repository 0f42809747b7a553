"""Real answers of the routes of conversations and discussions are what OpenAPI says they are."""

import pytest
import pytest_asyncio

from mnemoir.core.scope import DEFAULT_USER, Scope
from tests.narrowing import present
from tests.server.conversation_targets import CONVERSATIONS, at, begin, of, own_project, said, shared_server
from tests.server.declared import ROUTES
from tests.server.test_discussion_routes import of as discussion
from tests.server.test_discussion_routes import remember
from tests.server.test_node_memory_routes import memory, objects

pytestmark = pytest.mark.asyncio(loop_scope="module")
everyones, server, objects = shared_server(), own_project(), objects

CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
PICTURE = {"type": "image_url", "image_url": {"url": "https://pictures.example/cup.png"}}
MESSAGES = [
    {"role": "user", "content": [PICTURE, {"type": "text", "text": "What is this?"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": "A cup.", "tool_call_id": "call_1", "name": "look"},
    *said("tea", "Green."),
]


@pytest_asyncio.fixture(loop_scope="module")
async def filled(server, objects):
    """A conversation with tools, pictures, node memories; and a discussion."""
    await begin(server, "f", messages=MESSAGES, title="Cups", tags=["a"], custom={"keep": True})
    await server.ask("POST", of("f", "/flush"))
    await remember(server, owner=Scope(project=server.project, user=DEFAULT_USER))
    return server


ONE = CONVERSATIONS + "/{id:conversation}"
TOLD = [
    ("GET", CONVERSATIONS, at(), None),
    ("POST", CONVERSATIONS, at(), {"messages": MESSAGES}),
    ("DELETE", CONVERSATIONS, at(user_id="otto"), None),
    ("GET", CONVERSATIONS + "/search", at("/search", q="cup"), None),
    ("POST", CONVERSATIONS + "/prune", at("/prune"), {"days": 1, "dry_run": True}),
    ("POST", CONVERSATIONS + "/node-memory/cleanup", at("/node-memory/cleanup"), {}),
    ("GET", ONE, of("f"), None),
    ("PATCH", ONE, of("f"), {"title": "Tea"}),
    ("DELETE", ONE, of("d"), None),
    ("POST", ONE + "/flush", of("f", "/flush"), None),
    ("GET", ONE + "/messages", of("f", "/messages"), None),
    ("GET", ONE + "/messages", of("f", "/messages", view="tree"), None),
    ("GET", ONE + "/messages", of("f", "/messages", around=0, limit=2), None),
    ("GET", ONE + "/branches", of("f", "/branches"), None),
    ("POST", ONE + "/messages", of("f", "/messages"), {"messages": MESSAGES}),
    ("GET", ONE + "/window", of("f", "/window", q="cup"), None),
    ("GET", ONE + "/window", of("f", "/window", max_tokens=20, strategy="hybrid"), None),
    ("GET", ONE + "/node-memory", of("c", "/node-memory"), None),
    ("GET", ONE + "/node-memory/{memory}", memory("app/own%20id"), None),
    ("DELETE", ONE + "/node-memory/{memory}", memory("app/own%20id"), None),
    ("DELETE", ONE + "/node-memory", of("c", "/node-memory"), None),
    ("GET", "/api/discussions", "/api/discussions", None),
    ("GET", "/api/discussions/{id}", discussion("tea-time"), None),
    ("GET", "/api/discussions/{id}/memories", discussion("tea-time", "memories", sources="true", stale="true"), None),
    ("GET", "/api/discussions/{id}/memories", discussion("tea-time", "memories", kind="records"), None),
    ("GET", "/api/discussions/{id}/summary", discussion("tea-time", "summary"), None),
    ("GET", "/api/discussions/{id}/search", discussion("tea-time", "search", q="tea"), None),
]


@pytest.mark.parametrize(("method", "path", "target", "body"), TOLD, ids=lambda value: str(value)[:60])
async def test_an_answer_is_what_it_is_described_as(filled, method, path, target, body):
    answer = await filled.ask(method, target, body)
    assert answer.status in (200, 201), answer.body


async def test_a_branch_a_pin_and_a_head_are_what_they_are_described_as(filled):
    first, *_, last = (await filled.get(of("f", "/messages")))["results"]
    for method, below, body in (
        ("POST", "/branch", {"message_id": last["id"]}),
        ("PUT", "/head", {"message_id": first["id"]}),
        ("PATCH", f"/messages/{first['id']}", {"pinned": True}),
    ):
        answer = await filled.ask(method, of("f", below), body)
        assert answer.status in (200, 201), answer.body


async def test_every_answer_in_json_is_described():
    named = {
        (method, route.path)
        for route in ROUTES
        for method in present(route.methods)
        if route.response_model is None and route.status_code != 204
    }
    exports = ("/api/export", CONVERSATIONS + "/export", ONE + "/export", "/api/discussions/{id}/export")
    files = (ONE + "/attachments/{name}", "/api/files/{name:path}", "/docs", "/docs/try.js", "/openapi.json")
    streams = ("/api/runs/live", ONE + "/answers/{answer_id}")
    sign_in = ("/api/auth/oidc/{provider}/start", "/auth/callback", "/auth/callback.js")
    reading = {("GET", path) for path in (*exports, *files, *streams, *sign_in, "/metrics")}
    assert named == reading | {("POST", path) for path in ("/api/subjects/{user_id}/export", "/api/workflows/try")}
