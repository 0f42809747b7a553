"""Names that would lead somewhere else, in every place a client can write one, over both storages."""

from urllib.parse import quote

import orjson
import pytest

from tests.server.server_kit import asks, error_of, hello

CHAT, MEMORIES = "/v1/chat/completions", "/api/memories"
HOSTILE = [
    *("../x", "..\\x", "%2e%2e%2f", "/etc/x", "C:x", "x\0", ".", "..", "", "x" * 300, "a/b", "dot. ", " a", "a\n"),
    *("\u202ex", "\u00e9", "e\u0301", "x;y", "a b", "-rf", ".hidden", "~root", "$HOME", "*", "con\u200bd"),
]
ODD_BUT_ALLOWED = ["CON", "NUL.txt", "dot.", "a..b", "_x", "9", "x" * 128]
ALIKE = ["a", "A", "a.", "e\u0301", "\u00e9", "\u212b", "\u00c5", "a\u200b", "\u202ea", "CON", "con", "a/b", "a%2Fb"]
STORAGES = pytest.mark.parametrize("storage", ["sqlite", "file"])


@pytest.fixture
async def server(open_server, tmp_path, storage):
    return await open_server({"storage.backend": storage, "storage.workspace_root": str(tmp_path / "workspace")})


def said(text: str = "Rows", user: str = "mira") -> dict:
    return {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}


def everything_below(folder) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@STORAGES
async def test_a_project_of_a_hostile_name_is_refused_wherever_it_is_written(server, tmp_path):
    before = everything_below(tmp_path)
    for name in HOSTILE:
        answers = [answer async for answer in everything_asked_of(server, name)]
        assert (name, {error_of(answer) for answer in answers}) == (name, {(400, "invalid_project")})
    assert everything_below(tmp_path) - before <= {"data/mnemoir.db-wal", "data/mnemoir.db-shm"}


async def everything_asked_of(server, name: str):
    """Answers of each way to name a project."""
    chat, quoted = hello(memoryEnabled=True), quote(name, safe="")
    yield await server.ask("POST", f"{MEMORIES}?project={quoted}", said())
    yield await server.ask("POST", f"{CHAT}?project={quoted}", chat)
    yield await server.ask("PUT", f"{MEMORIES}/settings?project={quoted}", {"searchLimit": 8})
    yield await server.ask("GET", f"{MEMORIES}/mira?project={quoted}")
    yield await server.ask("GET", f"/api/export?project={quoted}")
    if name.isascii() and name.isprintable() and name == name.strip():  # what the value of a header can be
        yield await server.ask("POST", MEMORIES, said(), x_etienne_project=name)
        yield await server.ask("POST", CHAT, chat, x_etienne_project=name)


@STORAGES
async def test_an_odd_project_that_is_allowed_stays_inside_the_workspace(server, tmp_path, storage):
    for name in ODD_BUT_ALLOWED:
        await server.post(f"{MEMORIES}?project={quote(name)}", said(f"of {name}"))
    for name in ODD_BUT_ALLOWED:
        listed = await server.get(f"{MEMORIES}/mira?project={quote(name)}")
        assert [memory["memory"] for memory in listed["results"]] == [f"of {name}"]
    places = {str(path.parent.parent.relative_to(tmp_path)) for path in tmp_path.rglob("memories.json")}
    assert places == ({f"workspace/{name}" for name in ODD_BUT_ALLOWED} if storage == "file" else set())


@STORAGES
async def test_projects_and_users_that_only_look_alike_share_nothing(server):
    for project in ("a", "A", "a."):
        await server.post(f"{MEMORIES}?project={project}", said(f"of {project}"))
    for project in ("a", "A", "a."):
        listed = await server.get(f"{MEMORIES}/mira?project={project}")
        assert [memory["memory"] for memory in listed["results"]] == [f"of {project}"]
    for user in ALIKE:
        await server.post(MEMORIES, said(f"of {user!a}", user))
    for user in ALIKE:
        listed = await server.get(f"{MEMORIES}?user_id={quote(user, safe='')}")
        assert [memory["memory"] for memory in listed["results"]] == [f"of {user!a}"]


@pytest.mark.costly("each name is tried in each place")
@STORAGES
async def test_users_agents_and_conversations_are_data_and_make_no_files(server, tmp_path):
    for name in (name for name in HOSTILE if "\0" not in name and len(name) <= 256 and name.strip()):
        body = said("Rows", name) | {"agent_id": name, "app_id": name, "run_id": name}
        await server.post(MEMORIES, body)
        listed = await server.get(f"{MEMORIES}?user_id={quote(name, safe='')}")
        found = {(memory["user_id"], memory["run_id"]) for memory in listed["results"]}
        assert (name.strip(), name.strip()) in found
        assert {user for user, _ in found} == {name.strip()}
        await server.post(CHAT, hello(memoryEnabled=True, user=name, conversation_id=name))
    assert {path.split("/")[0] for path in everything_below(tmp_path)} <= {"data", "workspace"}
    made = {path for path in everything_below(tmp_path) if path.startswith("workspace/") and ".etienne" not in path}
    assert made <= {"workspace/default"}


@pytest.mark.parametrize("name", ["x\0", "x" * 300])
async def test_a_name_that_is_none_is_refused_in_a_chat(open_server, llm, name):
    server = await open_server(asks(llm))
    for body in ({"user": name}, {"conversation_id": name}):
        answer = await server.ask("POST", CHAT, hello(memoryEnabled=True, **body))
        assert error_of(answer) == (400, "validation_error")
    headers = {"x_user_id": name, "x_conversation_id": name} if "\0" not in name else {}
    for header, value in headers.items():
        answer = await server.ask("POST", CHAT, hello(memoryEnabled=True), **{header: value})
        assert error_of(answer) == (400, "validation_error")
    assert llm.requests == []
    assert orjson.loads(answer.body)["detail"]
