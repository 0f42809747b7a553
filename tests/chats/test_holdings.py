"""A holding is one entry of a list: it is then counted, exported, imported, pruned and forgotten."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from mnemoir.core.scope import Act, Principal, Scope, acting
from mnemoir.ports.holdings import OpenHolding
from tests.acceptance.conversation_kit import holds
from tests.chats.chat_kit import Chats, opened_chats
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import succeeded
from tests.upkeep.toy_holding import Notes, make_table, notes_of, registered

MIRA, OTTO = "mira", "otto"


@pytest.fixture(autouse=True)
def _registered():
    with registered():
        yield


@asynccontextmanager
async def with_notes(folder) -> AsyncIterator[tuple[Chats, Notes]]:
    await make_table(folder / "data")
    async with ScriptedLLM() as llm, opened_chats(folder, llm, **{"memory.auto_prune_days": 30}) as chats:
        yield chats, notes_of(chats.parts)


@pytest.fixture
async def noted(tmp_path):
    async with with_notes(tmp_path) as both:
        yield both


def owner(chats: Chats, user: str = MIRA) -> Scope:
    return Scope(project=chats.project, user=user)


async def remember(chats: Chats, text: str, user: str = MIRA) -> None:
    body = {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}
    succeeded(await chats.ask("POST", "/api/memories", body))


async def test_it_is_counted(noted):
    chats, notes = noted
    await notes.write(owner(chats), "boil it")
    assert (await chats.parts.chats.stock.amounts())["notes"] == 1


async def test_it_is_exported_beside_the_facts_and_imported_once(noted, tmp_path):
    chats, notes = noted
    await notes.write(owner(chats), "boil it")
    await notes.write(owner(chats, OTTO), "stir it")
    await remember(chats, "Green tea, please")
    exported = await chats.ask("GET", "/api/export")
    one_user = await chats.ask("GET", "/api/export?user_id=otto")
    assert (exported.body.count(b'"kind":"note"'), len(one_user.body.splitlines())) == (2, 1)
    async with with_notes(tmp_path / "elsewhere") as (others, copied):
        for imported in (3, 0):
            answer = succeeded(await others.ask("POST", "/api/import", exported.body))
            assert (answer["imported"], answer["skipped"]) == (imported, 3 - imported)
        assert await copied.texts(owner(others)) == ["boil it"]
        listed = (await others.get("/api/memories?user_id=mira"))["results"]
        assert [one["memory"] for one in listed] == ["Green tea, please"]


@pytest.mark.usefixtures("trusted_clock")
async def test_it_is_pruned_with_the_conversations(noted):
    chats, notes = noted
    await chats.parts.upkeep.pruning.aclose()  # its own run at the start would race with the one below
    await chats.chat("hello")
    await notes.write(owner(chats), "old", days=31)
    await notes.write(owner(chats), "new", days=29)
    assert (await chats.parts.upkeep.pruning.run(dry_run=False))["conversations"] == 1
    assert await notes.texts(owner(chats)) == ["new"]


async def test_it_is_forgotten_to_the_byte_with_its_conversation(noted, tmp_path):
    chats, notes = noted
    scope = owner(chats, "user")
    await chats.chat("hello", id="tea")
    await notes.write(scope, "Zanzibarquince", conversation="tea")
    await notes.write(scope, "Quillwortlantern", conversation="coffee")
    assert holds(tmp_path, ["Zanzibarquince"])
    succeeded(await chats.ask("DELETE", "/api/conversations/tea"))
    assert await notes.texts(scope) == ["Quillwortlantern"]
    assert holds(tmp_path, ["Zanzibarquince"]) == {}


async def test_its_store_knows_in_each_transaction_who_asked_and_in_which_request(noted):
    chats, notes = noted
    acts = []

    async def forget(scope: Scope) -> Mapping[str, int]:
        await notes.db.write(scope, lambda sql: acts.append(acting.get()))
        return {}

    chats.parts.upkeep.holdings.append(OpenHolding(name="witness", forget=forget))
    answer = await chats.ask("DELETE", "/api/memories?user_id=mira")
    assert acts == [Act(principal=Principal(), request_id=answer.headers["x-request-id"])]


async def test_it_is_forgotten_with_all_that_is_remembered_of_a_user(noted, tmp_path):
    chats, notes = noted
    await notes.write(owner(chats), "Zanzibarquince")
    await notes.write(owner(chats, OTTO), "Quillwortlantern")
    await remember(chats, "Tandemzinnober")
    succeeded(await chats.ask("DELETE", "/api/memories?user_id=mira"))
    assert await notes.texts(owner(chats, OTTO)) == ["Quillwortlantern"]
    assert holds(tmp_path, ["Zanzibarquince", "Tandemzinnober"]) == {}
