"""Files of messages over HTTP: told by their own bytes, and harmless in a browser whatever they are."""

import hashlib
from base64 import b64encode

import pytest

from tests.server.conversation_targets import add, begin, of, own_project, shared_server
from tests.server.server_kit import Server, error_of
from tests.workflows.nodes.pictures import png

pytestmark = pytest.mark.asyncio(loop_scope="module")
everyones, server = shared_server(), own_project()

PICTURE = png(filler=b"a cup of tea")
SCRIPT = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
CHAT = "/v1/chat/completions"


def sent(content: bytes, mime_type: str = "image/png") -> dict:
    url = f"data:{mime_type};base64,{b64encode(content).decode()}"
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


async def link_of(server: Server, id: str, content: bytes, mime_type: str = "image/png", **query: str) -> str:
    """The last step of the link to a file that is sent with a message of a new conversation."""
    await begin(server, id, **query)
    body = {"messages": [sent(content, mime_type)]}
    answer = await server.ask("POST", of(id, "/messages", **query), body)
    assert answer.status == 201, answer.body
    page = await server.get(of(id, "/messages", **query))
    (part,) = page["results"][-1]["content"]
    found: str = part["image_url"]["url"].rpartition("/")[2]
    return found


async def test_a_picture_comes_back_byte_for_byte_and_may_be_shown(server):
    name = await link_of(server, "a/b", PICTURE)
    answer = await server.ask("GET", of("a/b", f"/attachments/{name}"))
    assert (answer.status, answer.body) == (200, PICTURE)
    assert name == f"{hashlib.sha256(PICTURE).hexdigest()}.png"
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-disposition"] == f'inline; filename="{name}"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answer.headers["cache-control"] == "no-store"


async def test_a_picture_of_a_chat_is_there_too(server):
    body = {"model": "mnemoir", "messages": [sent(PICTURE)]}
    assert (await server.ask("POST", CHAT, body, x_session_id="c")).status == 200
    (message, *_) = (await server.get(of("c", "/messages")))["results"]
    name = message["content"][0]["image_url"]["url"].rpartition("/")[2]
    assert (await server.ask("GET", of("c", f"/attachments/{name}"))).body == PICTURE


@pytest.mark.parametrize(
    ("content", "told", "shown"),
    [
        (SCRIPT, "application/octet-stream", False),
        (b"<html><script>alert(1)</script>", "application/octet-stream", False),
        (b"%PDF-1.7 ...", "application/pdf", False),
        (b"GIF89a\x01\x00<script>", "image/gif", True),
    ],
    ids=["svg", "html", "pdf", "gif"],
)
async def test_what_a_file_is_its_bytes_tell_and_not_its_sender(server, content, told, shown):
    name = await link_of(server, "c", content, "image/png")
    answer = await server.ask("GET", of("c", f"/attachments/{name}"))
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, content, told)
    assert answer.headers["content-disposition"].startswith("inline" if shown else "attachment")


async def test_files_of_others_are_as_unknown_as_those_that_are_not_there(server):
    name = await link_of(server, "c", PICTURE, user_id="mira")
    await begin(server, "d", user_id="mira")
    await begin(server, "c", user_id="otto")
    for target in (
        of("c", f"/attachments/{name}", user_id="otto"),
        of("d", f"/attachments/{name}", user_id="mira"),
        of("c", f"/attachments/{'0' * 64}.png", user_id="mira"),
    ):
        assert error_of(await server.ask("GET", target)) == (404, "attachment_not_found")
    nobodys = await server.ask("GET", of("c", f"/attachments/{name}", user_id="nobody"))
    assert error_of(nobodys) == (404, "conversation_not_found")


@pytest.mark.parametrize(
    "name",
    ["..%2F..%2Fconversations.db", "%2e%2e", "x", f"{'0' * 64}", f"{'0' * 64}.png%00", f"{'0' * 64}.png%0d%0aX: y"],
)
async def test_a_name_that_is_none_is_not_there(server, name):
    await link_of(server, "c", PICTURE)
    assert error_of(await server.ask("GET", of("c", f"/attachments/{name}")))[0] == 404


async def test_a_damaged_file_is_not_given_out_and_one_that_is_forgotten_is_gone(server):
    name = await link_of(server, "c", PICTURE)
    (file,) = server.folder().rglob(name)
    file.write_bytes(PICTURE[:-1] + b"X")
    assert error_of(await server.ask("GET", of("c", f"/attachments/{name}"))) == (404, "attachment_not_found")
    file.write_bytes(PICTURE)
    assert (await server.ask("GET", of("c", f"/attachments/{name}"))).status == 200
    await server.ask("DELETE", of("c"))
    await begin(server, "c")
    await add(server, "c", "new")
    assert error_of(await server.ask("GET", of("c", f"/attachments/{name}"))) == (404, "attachment_not_found")
