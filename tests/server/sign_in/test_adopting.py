"""What was kept before anybody signed in is given to a person: memories with their history, and conversations."""

import asyncio

import pytest

from mnemoir.chats.remembering import queue_of
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.holds import Hold
from tests.remembering_model import learn_every_turn
from tests.server.server_kit import Server, asks, error_of
from tests.server.sign_in.page import Page, joined, told
from tests.server.storages import database_settings  # noqa: F401  # the fixture
from tests.storage.sealing_kit import a_key

CELLO = "Plays the cello on Tuesdays"


async def learned(server: Server, user: str) -> None:
    """Until everything is made of what the user said."""
    queue = queue_of(Scope(project="default", user=user))
    async with asyncio.timeout(60):
        while any(job.state in ("PENDING", "RUNNING") for job in await server.parts.upkeep.jobs.stored_jobs(queue)):  # noqa: ASYNC110  # no answer tells it
            await asyncio.sleep(0.002)


@pytest.fixture
def open_house(open_server, llm):
    """A server on which somebody without a name said something, and Anna, an admin who joined since."""

    async def start(**settings: object) -> tuple[Server, Page]:
        learn_every_turn(llm, lambda extraction: None)
        server = await open_server(asks(llm) | settings)
        said = {"messages": [{"role": "user", "content": CELLO}], "infer": False, "user_id": "user"}
        for project in ("default", "kitchen"):
            await server.post(f"/api/memories?project={project}", said)
        await server.post("/api/memories/search", {"query": "cello", "user_id": "user"})
        chat = {"model": "mnemoir", "conversation_id": "lessons", "memoryEnabled": True}
        chat["messages"] = [{"role": "user", "content": "When is my lesson?"}]
        await server.post("/v1/chat/completions", chat)
        await learned(server, "user")
        return server, await joined(server, "anna", "admin", is_operator=True)

    return start


async def adopted(server: Server, by: Page, name: str, **body: str):
    user = server.parts.access.users.user_by_name(name)
    return await by.ask("POST", f"/api/users/{user.id}/adopt", body)


async def texts(page: Page, query: str = "") -> list[str]:
    return [one["memory"] for one in told(await page.ask("GET", f"/api/memories{query}"))["results"]]


async def test_memories_and_conversations_are_given_with_their_history(open_house):
    server, anna = await open_house()
    assert await texts(anna) == []
    given = told(await adopted(server, anna, "anna"))
    assert given["from_user"] == "user"
    assert given["to_user"] == "anna"
    assert given["memories"] == ["default", "kitchen"]
    assert given["conversations"] == ["default"]
    assert CELLO in await texts(anna)
    assert await texts(anna, "?project=kitchen") == [CELLO]
    found = told(await anna.ask("POST", "/api/memories/search", {"query": "cello"}))["results"]
    assert CELLO in [one["memory"] for one in found]
    memory = next(one for one in found if one["memory"] == CELLO)
    history = told(await anna.ask("GET", f"/api/memories/{memory['id']}/history"))
    assert [event["event"] for event in history["results"]] == ["ADD"]
    talks = told(await anna.ask("GET", "/api/conversations"))["results"]
    assert [talk["id"] for talk in talks] == ["lessons"]
    messages = told(await anna.ask("GET", "/api/conversations/lessons/messages"))
    assert "When is my lesson?" in str(messages)


async def test_how_much_there_is_to_give_is_told_before_it_is_given(open_house):
    server, anna = await open_house()
    path = f"/api/users/{anna.user['id']}/adopt"
    there = told(await anna.ask("GET", path))
    assert (there["from_user"], there["conversations"]) == ("user", 1)
    key = {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]}
    lists = [await server.get(f"/api/memories?user_id=user&project={name}", **key) for name in ("default", "kitchen")]
    assert there["memories"] == sum(one["total"] for one in lists) > 1
    told(await adopted(server, anna, "anna"))
    assert told(await anna.ask("GET", path)) == {"from_user": "user", "memories": 0, "conversations": 0}
    nobody = told(await anna.ask("GET", f"{path}?from_user=nobody"))
    assert nobody == {"from_user": "nobody", "memories": 0, "conversations": 0}


async def test_nothing_is_left_where_it_was_and_what_is_said_there_is_apart(open_house):
    server, anna = await open_house()
    key = {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]}
    told(await adopted(server, anna, "anna"))
    assert (await server.get("/api/memories?user_id=user", **key))["results"] == []
    assert (await server.post("/api/memories/search", {"query": "cello", "user_id": "user"}, **key))["results"] == []
    assert (await server.get("/api/conversations?user_id=user", **key))["results"] == []
    said = {"messages": [{"role": "user", "content": "Rows"}], "infer": False, "user_id": "user"}
    await server.post("/api/memories", said, **key)
    assert "Rows" not in await texts(anna)
    again = told(await adopted(server, anna, "anna", from_user="nobody"))
    assert (again["memories"], again["conversations"]) == ([], [])


async def test_whoever_has_memories_or_conversations_gets_none_and_nothing_moves(open_house):
    server, anna = await open_house()
    said = {"messages": [{"role": "user", "content": "Rows"}], "infer": False}
    told(await anna.ask("POST", "/api/memories", said))
    assert error_of(await adopted(server, anna, "anna")) == (409, "memories_exist")
    ben = await joined(server, "ben")
    told(await ben.ask("POST", "/api/conversations", {"id": "own"}))
    assert error_of(await adopted(server, anna, "ben")) == (409, "memories_exist")
    cleo = await joined(server, "cleo")
    told(await adopted(server, anna, "cleo"))
    assert CELLO in await texts(cleo)
    assert [talk["id"] for talk in told(await cleo.ask("GET", "/api/conversations"))["results"]] == ["lessons"]


async def test_memories_of_somebody_else_or_on_hold_are_not_given(open_house):
    server, anna = await open_house()
    await joined(server, "ben")
    assert error_of(await adopted(server, anna, "anna", from_user="ben")) == (409, "memories_taken")
    assert error_of(await adopted(server, anna, "anna", from_user="anna")) == (422, "validation_error")
    hold = Hold(tenant="default", user="user", reason="case 7", set_at="2026-11-27T00:00:00Z", set_by="test")
    await server.parts.upkeep.subjects.everybody._holds.put(hold)
    assert error_of(await adopted(server, anna, "anna")) == (409, "legal_hold")


async def test_a_person_of_some_projects_gets_those_alone(open_house):
    server, anna = await open_house()
    cook = await joined(server, "cook", projects=["kitchen"])
    given = told(await adopted(server, anna, "cook"))
    assert (given["memories"], given["conversations"]) == (["kitchen"], [])
    assert await texts(cook) == [CELLO]


async def test_only_who_manages_all_users_gives(open_house):
    server, anna = await open_house()
    ben = await joined(server, "ben")
    assert (await adopted(server, ben, "anna")).status == 403
    told(await adopted(server, anna, "anna"))
    [entry] = await server.parts.access.audit.newest(None, limit=1, before=None, action="users.adopt")
    assert entry.result == "200"


@pytest.mark.parametrize("kind", ["encrypted", "in project files"])
async def test_what_names_its_user_or_has_a_key_of_its_own_is_refused(open_house, tmp_path, kind):
    kek = tmp_path / "kek"
    kek.write_text(a_key())
    kek.chmod(0o600)
    settings = {
        "encrypted": {
            "encryption.mode": "fields",
            "encryption.key_file": str(kek),
            "encryption.allow_plain": "conversations",
        },
        "in project files": {"storage.backend": "file", "storage.workspace_root": str(tmp_path / "workspace")},
    }
    server, anna = await open_house(**settings[kind])
    assert error_of(await adopted(server, anna, "anna"))[1] == "not_supported"
    assert await texts(anna) == []
    key = {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]}
    left = await server.get("/api/memories?user_id=user", **key)
    assert CELLO in [one["memory"] for one in left["results"]]
