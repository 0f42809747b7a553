"""Undo of an import: the memories and conversations of before, but for what was changed by hand since."""

import json
from functools import partial

import pytest

from mnemoir.core.scope import Scope
from tests.server.pasts import (
    USER,
    begin,
    bring,
    chat,
    ended,
    export,
    learn,
    memories,
    standing,
    tell,
    undo,
    until,
    user_says,
)
from tests.server.server_kit import Server, error_of
from tests.storage.sealing_kit import a_key

HOMES = chat("homes", *user_says(("2022-03-01", "I live in Graz."), ("2024-03-01", "I live in Wels.")))
WORK = chat("work", *user_says(("2023-03-01", "I live in Linz."), ("2023-04-01", "I work at Bosch.")))
MIRA = Scope(project="default", user=USER)


async def conversations(server: Server) -> list[str]:
    return sorted(one["id"] for one in (await server.get(f"/api/conversations?user_id={USER}"))["results"])


async def edit(server: Server, was: str, text: str) -> None:
    found = (await server.get(f"/api/memories/{USER}?limit=100"))["results"]
    [id] = [one["id"] for one in found if one["memory"] == was]
    assert (await server.ask("PATCH", f"/api/memories/{id}?user_id={USER}", {"memory": text})).status == 200


async def test_undo_gives_the_memories_of_before_and_takes_the_conversations_away(server):
    await tell(server, "I live in Oslo.", "2023-01-01")
    await tell(server, "I like tea.", "2023-01-01")
    id = await bring(server, export(HOMES, WORK))
    await learn(server, id)
    assert await memories(server) == ["Likes tea", "Lives in Wels", "Works at Bosch"]
    assert (await undo(server, id))["state"] == "undone"
    assert await memories(server) == ["Likes tea", "Lives in Oslo"]
    assert await conversations(server) == []
    again = await server.ask("POST", f"/api/imports/{id}/undo?user_id={USER}")
    assert error_of(again) == (409, "import_undone")


async def test_a_state_of_the_past_that_an_import_told_is_gone_after_its_undo(server):
    await tell(server, "I live in Oslo.", "2025-01-01")
    id = await bring(server, export(HOMES))
    await learn(server, id)
    then = f"/api/memories/{USER}?at=2023-06-01T00:00:00Z"
    assert [one["memory"] for one in (await server.get(then))["results"]] == ["Lives in Graz"]
    await undo(server, id)
    assert (await server.get(then))["results"] == []


async def test_what_was_changed_by_hand_stays_and_what_it_had_replaced_does_not_come_back(server):
    await tell(server, "I live in Oslo.", "2023-01-01")
    id = await bring(server, export(HOMES, WORK))
    await learn(server, id)
    await edit(server, "Lives in Wels", "Lives in Wels with Anna")
    await undo(server, id)
    assert await memories(server) == ["Lives in Wels with Anna"]


async def test_a_conversation_that_was_continued_or_renamed_stays(server):
    third = chat("third", *user_says(("2023-04-01", "I like tea.")))
    id = await bring(server, export(HOMES, WORK, third))
    said = {"messages": [{"role": "user", "content": "And now?"}]}
    await server.ask("POST", f"/api/conversations/homes/messages?user_id={USER}", said)
    await server.ask("PATCH", f"/api/conversations/work?user_id={USER}", {"title": "My work"})
    await undo(server, id)
    assert await conversations(server) == ["homes", "work"]


async def test_an_import_that_was_never_learned_from_can_be_undone_too(server):
    id = await bring(server, export(HOMES, WORK))
    await undo(server, id)
    assert await conversations(server) == []


async def test_of_a_conversation_that_was_there_only_the_messages_go_that_were_merged_into_it(server):
    short = chat("homes", *user_says(("2022-03-01", "I live in Graz.")))
    first = await bring(server, export(short))
    second = await bring(server, export(HOMES), on_conflict="merge")
    await learn(server, second)
    assert await memories(server) == ["Lives in Wels"]
    await undo(server, second)
    kept = (await server.get(f"/api/conversations/homes/messages?user_id={USER}"))["results"]
    assert [one["content"] for one in kept] == ["I live in Graz.", "I see."]
    assert await memories(server) == []
    assert (await learn(server, first))["turns_done"] == 1
    assert await memories(server) == ["Lives in Graz"]


async def test_with_review_on_what_waits_is_dropped_and_what_was_approved_is_taken_back(open_server):
    server = await open_server({"memory.review": "all"})
    id = await bring(server, export(WORK))
    await learn(server, id)
    waiting = (await server.get(f"/api/memories/proposals?user_id={USER}"))["results"]
    await server.post(f"/api/memories/proposals/{waiting[0]['id']}/approve?user_id={USER}", {})
    assert len(await memories(server)) == 1
    await undo(server, id)
    assert (await server.get(f"/api/memories/proposals?user_id={USER}"))["results"] == []
    assert await memories(server) == []


async def test_memories_of_another_program_are_taken_back_but_for_those_that_were_changed(server):
    await tell(server, "I like tea.", "2023-01-01")
    lines = [{"memory": text, "created_at": "2024-01-01T00:00:00Z", "hash": "x"} for text in ("Rows", "Owns a boat")]
    told = await server.post(f"/api/import?user_id={USER}", json.dumps({"results": lines}).encode())
    [noted] = told["imports"]
    assert (told["format"], told["imported"], noted["user_id"]) == ("mem0", 2, USER)
    await edit(server, "Rows", "Rows on Sundays")
    await server.post(f"/api/imports/{noted['import_id']}/undo?user_id={USER}", {})
    await ended(server, noted["import_id"], ["undone"])
    assert await memories(server) == ["Likes tea", "Rows on Sundays"]


async def test_a_user_on_hold_cannot_undo_an_import(server):
    id = await bring(server, export(HOMES))
    await server.ask("PUT", f"/api/holds/{USER}", {"reason": "A case"})
    refused = await server.ask("POST", f"/api/imports/{id}/undo?user_id={USER}")
    assert error_of(refused) == (409, "legal_hold")
    assert await conversations(server) == ["homes"]


async def test_an_import_that_is_being_learned_from_is_stopped_and_undone(server):
    await tell(server, "I live in Oslo.", "2023-01-01")
    said = user_says(*((f"2024-02-{day:02}", f"I live in Town{day}.") for day in range(1, 20)))
    id = await bring(server, export(chat("many", *said)))
    await begin(server, id)
    await until(partial(has_learned, server, id))
    await undo(server, id)
    assert await memories(server) == ["Lives in Oslo"]
    assert await conversations(server) == []


async def has_learned(server: Server, id: str) -> bool:
    return bool((await standing(server, id))["learned"])


@pytest.mark.parametrize("kept", ["encrypted", "in files"])
async def test_it_is_the_same_where_memories_are_encrypted_or_kept_in_files(open_server, tmp_path, kept):
    files = {"storage.backend": "file", "storage.workspace_root": str(tmp_path / "work")}
    key = tmp_path / "key"
    key.write_text(a_key())
    key.chmod(0o600)
    server = await open_server(
        files if kept == "in files" else {"encryption.mode": "fields", "encryption.key_file": str(key)}
    )
    await tell(server, "I live in Oslo.", "2025-01-01")
    id = await bring(server, export(HOMES, WORK))
    assert (await learn(server, id))["state"] == "learned"
    assert await memories(server) == ["Lives in Oslo", "Works at Bosch"]
    await undo(server, id)
    assert (await memories(server), await conversations(server)) == (["Lives in Oslo"], [])
