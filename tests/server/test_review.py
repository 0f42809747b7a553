"""What extraction would change waits where a project reviews it, and is recalled only once it is approved."""

import asyncio
from pathlib import Path

import orjson
import pytest

from mnemoir.core.clock import now_text
from tests.server.conftest import OpenServer
from tests.server.server_kit import JSON, Server, error_of, succeeded
from tests.server.test_changes import log, undo
from tests.server.test_memory_curation import MEMORIES, edit, remember, told

QUEUE = f"{MEMORIES}/proposals"


@pytest.fixture(params=["sqlite", "file"])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    workspace = {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}
    return await open_server(workspace | {"memory.review": "all"}, review="all")


async def say(server: Server, text: str, user: str = "mira", **more: object) -> JSON:
    found: JSON = await server.post(
        MEMORIES, {"messages": [{"role": "user", "content": text}], "user_id": user} | more
    )
    return found


async def waiting(server: Server, user: str = "mira") -> list[JSON]:
    """What waits, oldest first."""
    found: list[JSON] = (await server.get(f"{QUEUE}?user_id={user}"))["results"][::-1]
    return found


async def texts(server: Server) -> list[tuple[str, str]]:
    return [(one["event"], one["memory"]) for one in await waiting(server)]


async def approve(server: Server, one: JSON | str, query: str = ""):
    return await server.ask("POST", f"{QUEUE}/{one if isinstance(one, str) else one['id']}/approve{query}")


async def review_changes(server: Server) -> None:
    succeeded(await server.ask("PUT", f"{MEMORIES}/settings", {"review": "changes"}))


async def test_an_add_is_proposed_and_neither_listed_nor_found(server):
    answer = await say(server, "I live in Graz.")
    (proposed,) = answer["proposed"]
    assert (answer["results"], answer["message"]) == ([], "Added 0 memories successfully")
    assert proposed == {
        "id": proposed["id"],
        "event": "ADD",
        "memory": "Lives in Graz",
        "reason": "extracted",
        "previous_memory": None,
    }
    assert proposed["id"].startswith("prp_")
    assert await told(server) == []
    assert (await server.post(f"{MEMORIES}/search", {"query": "Where?", "user_id": "mira"}))["results"] == []
    assert await log(server) == []
    assert [one["id"] for one in await waiting(server)] == [proposed["id"]]


async def test_an_approval_is_one_change_that_knows_its_turns_and_can_be_undone(server):
    await say(server, "I live in Graz.", metadata={"session_id": "s1"})
    approved = succeeded(await approve(server, (await waiting(server))[0]))
    (made,) = approved["results"]
    assert await told(server) == ["Lives in Graz"]
    (change,) = await log(server)
    assert (change["id"], change["session"], change["model"]) == (approved["id"], "s1", "offline")
    details = await server.get(f"{MEMORIES}/{made['id']}/details")
    assert [turn["content"] for turn in details["sources"]] == ["I live in Graz."]
    assert await waiting(server) == []
    succeeded(await undo(server, change))
    assert await told(server) == []


async def test_where_changes_are_reviewed_only_what_is_new_goes_through(server):
    await review_changes(server)
    await remember(server, "Is allergic to nuts", "Lives in Linz")
    answer = await say(server, "I am not allergic to nuts. I moved to Graz. I row every morning.")
    assert [one["event"] for one in answer["results"]] == ["ADD", "ADD"]
    proposed = [(one["event"], one["memory"], one["previous_memory"], one["reason"]) for one in answer["proposed"]]
    assert proposed == [
        ("UPDATE", "Lives in Graz", "Lives in Linz", "reconciled"),
        ("DELETE", "Is allergic to nuts", None, "superseded"),
    ]
    assert len(await told(server)) == 4
    for one in answer["proposed"]:
        succeeded(await approve(server, one))
    assert sorted(await told(server)) == ["Is not allergic to nuts", "Lives in Graz", "Rows every morning"]


async def test_of_many_those_that_fit_are_approved_in_few_changes_and_the_others_named(server):
    (home,) = await remember(server, "Lives in Linz")
    await say(server, "I moved to Graz. I row every morning. My name is Mira.")
    stale = next(one for one in await waiting(server) if one["event"] == "UPDATE")
    succeeded(await edit(server, home, {"memory": "Lives in Rome"}))
    answer = await server.post(f"{QUEUE}/approve", {"user_id": "mira", "all": True})
    assert [(one["id"], one["code"]) for one in answer["failed"]] == [(stale["id"], "proposal_outdated")]
    assert sum(len(change["results"]) for change in answer["changes"]) == 2
    assert len(await told(server)) == 3
    assert await waiting(server) == [stale]


async def test_all_that_fits_is_one_change_with_the_successor_of_what_it_ends(server):
    await remember(server, "Is allergic to nuts")
    await say(server, "I am not allergic to nuts. I row every morning.")
    answer = await server.post(f"{QUEUE}/approve", {"user_id": "mira", "all": True})
    (change,) = answer["changes"]
    assert sorted(one["event"] for one in change["results"]) == ["ADD", "ADD", "DELETE"]
    assert (sorted(await told(server)), answer["failed"]) == (["Is not allergic to nuts", "Rows every morning"], [])
    succeeded(await undo(server, change["id"]))
    assert await told(server) == ["Is allergic to nuts"]


async def test_a_target_that_changed_is_a_conflict_and_nothing_is_written(server):
    (home,) = await remember(server, "Lives in Linz")
    await say(server, "I moved to Graz.")
    (moved,) = await waiting(server)
    succeeded(await edit(server, home, {"memory": "Lives in Rome"}))
    refused = await approve(server, moved)
    assert error_of(refused) == (409, "proposal_outdated")
    assert b"refuse this one" in refused.body
    assert (await told(server), await waiting(server)) == (["Lives in Rome"], [moved])


async def test_of_two_changes_of_one_memory_the_second_is_a_conflict(server):
    await remember(server, "Lives in Linz")
    for town in ("Graz", "Rome"):
        await say(server, f"I moved to {town}.")
    (first, second) = await waiting(server)
    answer = await server.post(f"{QUEUE}/approve", {"user_id": "mira", "ids": [second["id"], first["id"]]})
    assert [one["id"] for one in answer["failed"]] == [second["id"]]
    assert await told(server) == ["Lives in Graz"]


CONTRADICTING = [
    ("I live in Graz.", "I live in Linz."),
    ("My name is Bob.", "My name is Al."),
    ("I am allergic to nuts.", "I am not allergic to nuts."),
    ("I am vegan.", "I am not vegan."),
    ("I like tea.", "I do not like tea."),
]


@pytest.mark.parametrize("said", CONTRADICTING)
async def test_an_approval_closes_what_an_earlier_one_stored_and_cannot_hold_beside_it(server, said):
    for text in said:
        await say(server, text)
    (first, second) = await waiting(server)
    succeeded(await approve(server, first))
    answer = succeeded(await approve(server, second))
    assert [(one["event"], one["memory"]) for one in answer["results"]] == [
        ("ADD", second["memory"]),
        ("DELETE", first["memory"]),
    ]
    assert await told(server) == [second["memory"]]
    succeeded(await undo(server, answer["id"]))
    assert await told(server) == [first["memory"]]


async def test_all_are_decided_in_the_order_in_which_they_were_proposed(server):
    for pair in CONTRADICTING:
        for text in pair:
            await say(server, text)
    last = [one["memory"] for one in await waiting(server)][1::2]
    answer = await server.post(f"{QUEUE}/approve", {"user_id": "mira", "all": True})
    assert (sorted(await told(server)), answer["failed"]) == (sorted(last), [])
    done = [one["event"] for change in answer["changes"] for one in change["results"]]
    assert (done.count("ADD"), done.count("DELETE")) == (10, 5)
    assert await waiting(server) == []


async def test_an_approval_closes_what_was_stored_by_hand(server):
    await say(server, "I live in Graz.")
    await remember(server, "Lives in Linz", "Sister lives in Linz", "Works in Linz")
    answer = succeeded(await approve(server, (await waiting(server))[0]))
    assert [(one["event"], one["memory"]) for one in answer["results"]] == [
        ("ADD", "Lives in Graz"),
        ("DELETE", "Lives in Linz"),
    ]
    assert sorted(await told(server)) == ["Lives in Graz", "Sister lives in Linz", "Works in Linz"]


async def test_what_was_said_before_what_contradicts_it_does_not_become_current_by_an_approval(server):
    for text in CONTRADICTING[0]:
        await say(server, text)
    (first, second) = await waiting(server)
    succeeded(await approve(server, second))
    late = await approve(server, first)
    if late.status == 200:
        (made,) = succeeded(late)["results"]
        assert (made["memory"], "valid_to" in made) == ("Lives in Graz", True)
    else:  # project files keep no past
        assert error_of(late) == (409, "proposal_outdated")
    assert await told(server) == ["Lives in Linz"]


async def test_a_proposed_text_that_was_edited_holds_from_now(server):
    for text in CONTRADICTING[0]:
        await say(server, text)
    (first, second) = await waiting(server)
    succeeded(await approve(server, second))
    succeeded(await server.ask("PATCH", f"{QUEUE}/{first['id']}", {"memory": "Lives in Wels"}))
    succeeded(await approve(server, first))
    assert await told(server) == ["Lives in Wels"]


async def test_an_end_that_waits_beside_its_fact_is_approved_or_refused_by_itself(server):
    await remember(server, "Is allergic to nuts")
    await say(server, "I am not allergic to nuts.")
    (denial, end) = await waiting(server)
    succeeded(await approve(server, denial))
    assert len(await told(server)) == 2
    succeeded(await approve(server, end))
    assert await told(server) == ["Is not allergic to nuts"]


async def test_a_text_that_is_remembered_by_now_is_a_conflict(server):
    await say(server, "I live in Graz.")
    await remember(server, "Lives in Graz")
    assert error_of(await approve(server, (await waiting(server))[0])) == (409, "memory_exists")


async def test_an_edited_proposal_waits_with_its_new_text(server):
    await say(server, "I live in Graz.")
    (one,) = await waiting(server)
    edited = succeeded(await server.ask("PATCH", f"{QUEUE}/{one['id']}", {"memory": "Lives near Graz"}))
    assert (edited["memory"], edited["id"], edited["reason"]) == ("Lives near Graz", one["id"], "edit")
    assert await told(server) == []
    succeeded(await approve(server, one))
    assert await told(server) == ["Lives near Graz"]


async def test_a_deletion_has_no_text_to_edit(server):
    await remember(server, "Is allergic to nuts")
    await say(server, "I am not allergic to nuts.")
    (_, ending) = await waiting(server)
    refused = await server.ask("PATCH", f"{QUEUE}/{ending['id']}", {"memory": "Is allergic"})
    assert error_of(refused) == (400, "proposal_without_text")


async def test_what_is_refused_is_gone_and_may_be_proposed_again(server):
    await say(server, "I live in Graz.")
    (one,) = await waiting(server)
    succeeded(await server.ask("POST", f"{QUEUE}/{one['id']}/refuse"))
    assert (await waiting(server), await told(server)) == ([], [])
    for call in ("approve", "refuse"):
        assert error_of(await server.ask("POST", f"{QUEUE}/{one['id']}/{call}")) == (404, "proposal_not_found")
    await say(server, "I live in Graz.")
    assert (await server.post(f"{QUEUE}/refuse", {"user_id": "mira", "all": True}))["refused"] == 1


async def test_what_waits_is_neither_proposed_again_nor_added_beside(server):
    await say(server, "I live in Graz.")
    for text in ("I live in Graz.", "I live in graz!"):
        again = await say(server, text)
        assert (again["results"], "proposed" in again) == ([], False)
    succeeded(await server.ask("PUT", f"{MEMORIES}/settings", {"review": "off"}))
    await say(server, "I live in Graz.")
    assert (await told(server), len(await waiting(server))) == ([], 1)


async def test_what_a_person_asks_for_is_not_reviewed(server):
    (tea,) = await remember(server, "Likes tea")
    succeeded(await edit(server, tea, {"memory": "Likes rum"}))
    await say(server, "Word for word", infer=False)
    planned = await say(server, "I row every morning.", dry_run=True)
    succeeded(await server.ask("POST", f"{MEMORIES}/plans/{planned['plan_id']}/apply"))
    succeeded(await server.ask("DELETE", f"{MEMORIES}/{tea}"))
    succeeded(await undo(server, (await log(server))[0]))
    assert (len(await told(server)), await waiting(server)) == (3, [])


async def test_another_users_proposal_is_not_there(server):
    await say(server, "I live in Graz.")
    (one,) = await waiting(server)
    assert await waiting(server, "noah") == []
    for query in ("?user_id=noah", "?project=other"):
        assert error_of(await approve(server, one, query)) == (404, "proposal_not_found")
    body = {"user_id": "noah", "ids": [one["id"]]}
    assert (await server.post(f"{QUEUE}/refuse", body))["refused"] == 0
    assert [each["code"] for each in (await server.post(f"{QUEUE}/approve", body))["failed"]] == [
        "proposal_not_found"
    ]
    assert len(await waiting(server)) == 1


async def test_proposals_come_in_pages_newest_first(server):
    await say(server, "I live in Graz. I row every morning. My name is Mira.")
    whole = [one["id"] for one in await waiting(server)][::-1]
    first = await server.get(f"{QUEUE}?user_id=mira&limit=2")
    second = await server.get(f"{QUEUE}?user_id=mira&limit=2&cursor={first['next']}")
    assert [one["id"] for page in (first, second) for one in page["results"]] == whole
    assert (first["total"], second["next"]) == (3, None)


async def test_a_repeated_request_is_answered_the_same(server):
    body = {"messages": [{"role": "user", "content": "I live in Graz."}], "user_id": "mira"}
    first = await server.post(MEMORIES, body, Idempotency_Key="k1")
    assert await server.post(MEMORIES, body, Idempotency_Key="k1") == first
    assert len(await waiting(server)) == 1


async def test_an_event_tells_what_was_proposed(server):
    started = await say(server, "I live in Graz.", async_mode=True)
    async with asyncio.timeout(60):
        while True:
            event = await server.get(f"/api/events/{started['event_id']}")
            if event["status"] == "SUCCEEDED":
                break
            await asyncio.sleep(0.02)
    assert [one["memory"] for one in event["proposed"]] == ["Lives in Graz"]


async def test_a_project_sets_what_it_reviews_over_the_servers(server):
    assert (await server.get(f"{MEMORIES}/settings"))["review"] == "all"
    await review_changes(server)
    assert (await server.get(f"{MEMORIES}/settings"))["review"] == "changes"
    await say(server, "I live in Graz.")
    assert await told(server) == ["Lives in Graz"]
    assert error_of(await server.ask("PUT", f"{MEMORIES}/settings", {"review": "some"}))[0] == 422
    succeeded(await server.ask("PUT", f"{MEMORIES}/settings", {"review": None}))
    assert (await server.get(f"{MEMORIES}/settings"))["review"] == "all"


@pytest.mark.parametrize("body", [{}, {"all": False}, {"ids": []}, {"ids": ["a"], "all": True}])
async def test_many_are_named_or_all(server, body):
    assert error_of(await server.ask("POST", f"{QUEUE}/approve", {"user_id": "mira"} | body))[0] == 422


async def test_proposals_are_exported_and_imported_once_and_approved_there(server, open_server, tmp_path):
    await remember(server, "Lives in Linz")
    await say(server, "I moved to Graz.", agent_id="a1")
    exported = (await server.ask("GET", "/api/export")).body
    assert exported.count(b'"kind":"proposal"') == len(await waiting(server))
    other = await open_server({"storage.data_dir": str(tmp_path / "elsewhere")})
    planned = succeeded(await other.ask("POST", "/api/import?dry_run=true", exported))
    for imported in (len(exported.splitlines()), 0):
        assert succeeded(await other.ask("POST", "/api/import", exported))["imported"] == imported
    assert planned["imported"] == len(exported.splitlines())
    assert await waiting(other) == await waiting(server)
    answer = await other.post(f"{QUEUE}/approve", {"user_id": "mira", "all": True})
    assert answer["failed"] == []
    assert "Lives in Graz" in await told(other)


async def test_an_imported_proposal_takes_no_id_of_another_s_memory(server):
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "infer": False}
    for user in ("otto", "mira"):  # who is known first would be found first
        await server.post(MEMORIES, said | {"user_id": user})
    hers = (await server.get(f"{MEMORIES}?user_id=mira"))["results"][0]["id"]
    line = {"kind": "proposal", "event": "ADD", "memory": "Owns a cello", "memory_id": hers, "user_id": "otto"}
    sent = orjson.dumps(line | {"created_at": now_text()})
    assert succeeded(await server.ask("POST", "/api/import", sent))["imported"] == 1
    assert (await server.post(f"{QUEUE}/approve", {"user_id": "otto", "all": True}))["failed"] == []
    his = (await server.get(f"{MEMORIES}?user_id=otto"))["results"]
    assert ("Owns a cello" in [one["memory"] for one in his], hers in [one["id"] for one in his]) == (True, False)
    assert (await server.ask("DELETE", f"{MEMORIES}/{hers}?user_id=mira")).status == 200


@pytest.mark.parametrize("line", ['{"kind": "proposal"}', '{"kind": "proposal", "event": "DELETE", "memory": "a"}'])
async def test_a_line_that_is_no_proposal_is_refused(server, line):
    assert error_of(await server.ask("POST", "/api/import", line.encode()))[0] == 422


def files_with(folder, word: str) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


async def test_proposals_are_forgotten_to_the_byte_with_their_user(server, tmp_path):
    await say(server, "I live in Zanzibarquince.", metadata={"session_id": "s1"})
    await say(server, "I live in Tandemzinnober.", "noah")
    assert files_with(tmp_path, "Zanzibarquince")
    succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira"))
    assert await waiting(server) == []
    assert files_with(tmp_path, "Zanzibarquince") == []
    assert len(await waiting(server, "noah")) == 1
