"""Lists of files over HTTP: those of one conversation, those of all of a user's, and those a project is kept in."""

import orjson
import pytest

from tests.server.conftest import OpenServer
from tests.server.conversation_targets import begin, of
from tests.server.server_kit import JSON, Server, error_of
from tests.server.test_conversation_attachments import PICTURE, SCRIPT, sent

OTHER = PICTURE + b"of another one"


async def send(server: Server, id: str, *contents: bytes, **query: str) -> list[int]:
    """Messages with these files, one each; their ids."""
    answer = await server.ask("POST", of(id, "/messages", **query), {"messages": [sent(one) for one in contents]})
    assert answer.status == 201, answer.body
    return [message["id"] for message in orjson.loads(answer.body)["results"]]


async def files_of(server: Server, user: str = "user", **more: object) -> JSON:
    """One page of a user's files."""
    asked = "".join(f"&{name}={value}" for name, value in more.items())
    found: JSON = await server.get(f"/api/files?user_id={user}{asked}")
    return found


async def remember(server: Server, user: str, fact: str, project: str = "default") -> None:
    """Keep a fact, and a setting of its project."""
    body = {"user_id": user, "infer": False, "messages": [{"role": "user", "content": fact}]}
    await server.post(f"/api/memories?project={project}", body)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "workspace"


@pytest.fixture
async def filed(open_server: OpenServer, root) -> Server:
    """A server that keeps projects in files."""
    return await open_server({"storage.backend": "file", "storage.workspace_root": str(root)})


async def test_a_conversation_lists_the_files_of_all_its_branches_newest_first(server):
    await begin(server, "a/b", "Look at this")
    first, second = await send(server, "a/b", PICTURE, SCRIPT)
    (third,) = await send(server, "a/b", OTHER)
    await server.ask("PUT", of("a/b", "/head"), {"message_id": first})
    page = await server.get(of("a/b", "/attachments"))
    told = [(file["message_id"], file["mime_type"], file["bytes"]) for file in page["results"]]
    assert told == [
        (third, "image/png", len(OTHER)),
        (second, "application/octet-stream", len(SCRIPT)),
        (first, "image/png", len(PICTURE)),
    ]
    assert page["next"] is None


async def test_a_link_leads_to_the_bytes(server):
    await begin(server, "a/b")
    await send(server, "a/b", PICTURE)
    (file,) = (await server.get(of("a/b", "/attachments")))["results"]
    answer = await server.ask("GET", file["link"])
    assert (answer.status, answer.body) == (200, PICTURE)
    assert file["link"] == f"/api/conversations/a%2Fb/attachments/{file['name']}"


async def test_pages_follow_each_other_without_a_gap(server):
    await begin(server, "c")
    ids = await send(server, "c", *(PICTURE + bytes([n]) for n in range(5)))
    seen, cursor = [], ""
    while True:
        page = await server.get(of("c", "/attachments", limit=2, **({"cursor": cursor} if cursor else {})))
        seen += [file["message_id"] for file in page["results"]]
        if not (cursor := page["next"]):
            break
    assert seen == ids[::-1]
    wrong = await server.ask("GET", of("c", "/attachments", cursor="x"))
    assert error_of(wrong) == (400, "invalid_cursor")


async def test_all_files_of_a_user_are_listed_and_nobody_elses(server):
    for user, id in (("mira", "tea"), ("mira", "cake"), ("otto", "tea")):
        await begin(server, id, user_id=user)
        await send(server, id, PICTURE + user.encode() + id.encode(), user_id=user)
    page = await files_of(server, "mira")
    assert [file["conversation_id"] for file in page["attachments"]] == ["cake", "tea"]
    assert page["project"] == []
    assert await files_of(server, "mira", project="other") == {"project": [], "attachments": [], "next": None}
    assert await files_of(server, "nobody") == {"project": [], "attachments": [], "next": None}


async def test_a_file_that_was_forgotten_is_listed_no_longer(server):
    await begin(server, "c")
    await send(server, "c", PICTURE)
    await server.ask("DELETE", of("c"))
    assert (await files_of(server))["attachments"] == []


async def test_a_project_shows_the_files_it_is_kept_in_and_of_memories_only_my_own(filed):
    await remember(filed, "mira", "Mira drinks tea")
    await remember(filed, "otto", "Otto drinks coffee")
    await filed.ask("PUT", "/api/memories/settings", {"decayDays": 3})
    page = await files_of(filed, "mira")
    names = ["long-term-memory/settings.json", "memories.json"]
    assert [file["name"] for file in page["project"]] == names
    settings, memories = [await filed.ask("GET", f"{file['link']}?user_id=mira") for file in page["project"]]
    assert orjson.loads(settings.body) == {"decayDays": 3}
    assert [record["memory"] for record in orjson.loads(memories.body)] == ["Mira drinks tea"]
    assert len(memories.body) == page["project"][1]["bytes"]
    assert [file["name"] for file in (await files_of(filed, "nobody"))["project"]] == names[:1]
    assert (await files_of(filed, "mira", project="other"))["project"] == []


async def test_a_file_of_a_project_is_inert_in_a_browser(filed):
    await remember(filed, "user", "<script>alert(1)</script>")
    answer = await filed.ask("GET", "/api/files/memories.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-disposition"] == 'attachment; filename="memories.json"'
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert (answer.headers["x-content-type-options"], answer.headers["cache-control"]) == ("nosniff", "no-store")


@pytest.mark.parametrize(
    "name",
    [
        *("../../secret.txt", "..%2F..%2Fsecret.txt", "%2e%2e/secret.txt", "/etc/passwd", "%2Fetc%2Fpasswd"),
        *("secret.txt", "memories.json.lock", "memories.json%00", "long-term-memory", "MEMORIES.JSON", "%00", "."),
    ],
)
async def test_no_name_leads_to_any_other_file(filed, root, name):
    await remember(filed, "user", "Drinks tea")
    (root / "default" / ".etienne" / "secret.txt").write_text("canary")
    (root / "secret.txt").write_text("canary")
    answer = await filed.ask("GET", f"/api/files/{name}")
    assert answer.status == (400 if name.startswith("/") else 404)  # an empty name in front of it is refused as such
    assert b"canary" not in answer.body


@pytest.mark.parametrize("step", ["", ".etienne", ".etienne/memories.json"])
async def test_no_link_on_the_disk_is_followed(filed, root, tmp_path, step):
    outside = tmp_path / "outside"
    (outside / ".etienne").mkdir(parents=True)
    (outside / ".etienne" / "memories.json").write_text('[{"id": "m", "memory": "canary", "user_id": "user"}]')
    (root / "default" / step).parent.mkdir(parents=True, exist_ok=True)
    (root / "default" / step).symlink_to(outside / step)
    for target in ("/api/files", "/api/files/memories.json"):
        answer = await filed.ask("GET", target)
        assert error_of(answer) == (503, "storage_unavailable")
        assert b"canary" not in answer.body


async def test_without_files_of_projects_none_can_be_asked_for(server):
    assert error_of(await server.ask("GET", "/api/files/memories.json")) == (404, "file_not_found")


async def test_answers_are_as_described(filed):
    await remember(filed, "user", "Drinks tea")
    await begin(filed, "c")
    await send(filed, "c", PICTURE)
    page = await files_of(filed)
    assert page["project"]
    assert page["attachments"]
    assert (await filed.get(of("c", "/attachments")))["results"]
    described = (await filed.get("/openapi.json"))["paths"]
    for path in ("/api/files", "/api/conversations/{id}/attachments"):
        schema = described[path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert schema["$ref"].endswith("Answer")
