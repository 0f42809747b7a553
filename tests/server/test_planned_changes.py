"""A dry run says what would change and why, and changes nothing; its plan is applied unchanged or refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from mnemoir.core.errors import NotFound
from mnemoir.core.ids import PlanId
from mnemoir.core.keyed_lock import KeyedLock
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.write.plans import MOST_PLANS, Plans
from mnemoir.ports.memory_store import Project
from tests.contracts.words import ASKED, SetClock, fact
from tests.narrowing import present
from tests.server.conftest import OpenServer
from tests.server.server_kit import Server, error_of, succeeded
from tests.server.test_changes import log
from tests.server.test_memory_curation import MEMORIES, edit, remember, told

SAID: dict[str, Any] = {
    "messages": [{"role": "user", "content": "I live in Graz. I row every morning."}],
    "user_id": "mira",
}


@pytest.fixture(params=["sqlite", "file"])
async def server(request, open_server: OpenServer, tmp_path: Path) -> Server:
    return await open_server(
        {"storage.backend": request.param, "storage.workspace_root": str(tmp_path / "workspace")}
    )


def files_in(folder) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.suffix != ".db-shm"}


async def apply(server: Server, plan_id: str, query: str = ""):
    return await server.ask("POST", f"{MEMORIES}/plans/{plan_id}/apply{query}")


async def plan_import(server: Server, *lines: dict) -> dict:
    body = "\n".join(json.dumps({"user_id": "mira", "created_at": "2026-01-01"} | line) for line in lines).encode()
    found: dict = succeeded(await server.ask("POST", "/api/import?dry_run=true", body))
    return found


async def test_a_dry_run_of_an_add_tells_what_would_change_and_writes_nothing(server, tmp_path):
    await remember(server, "Likes tea")
    before = files_in(tmp_path)
    planned = await server.post(MEMORIES, SAID | {"dry_run": True}, Idempotency_Key="k1")
    assert [(one["event"], one["reason"]) for one in planned["results"]] == [("ADD", "extracted")] * 2
    assert await told(server) == ["Likes tea"]
    assert files_in(tmp_path) == before
    applied = succeeded(await apply(server, planned["plan_id"]))["results"]
    assert [(one["id"], one["memory"]) for one in applied] == [
        (one["id"], one["memory"]) for one in planned["results"]
    ]
    assert len(await told(server)) == 3
    assert len((await log(server))[0]["rows"]) == 2
    done = await server.get(f"{MEMORIES}/{applied[0]['id']}/details")
    assert [turn["content"] for turn in done["sources"]] == [SAID["messages"][0]["content"]]


async def test_a_plan_is_applied_once(server):
    planned = await server.post(MEMORIES, SAID | {"dry_run": True})
    succeeded(await apply(server, planned["plan_id"]))
    assert error_of(await apply(server, planned["plan_id"])) == (404, "plan_not_found")


async def test_what_would_change_nothing_has_no_plan(server):
    succeeded(await server.ask("POST", MEMORIES, SAID))
    for said in (SAID, {"messages": [{"role": "user", "content": "Hello."}], "user_id": "mira"}):
        planned = await server.post(MEMORIES, said | {"dry_run": True})
        assert (planned["results"], planned["plan_id"]) == ([], None)


async def test_an_update_that_was_planned_is_refused_when_its_memory_was_changed(server):
    (lives,) = await remember(server, "Lives in Wien")
    moved = {"messages": [{"role": "user", "content": "I moved to Graz."}], "user_id": "mira", "dry_run": True}
    planned = await server.post(MEMORIES, moved)
    touched = {one["event"] for one in planned["results"] if one["id"] == lives}
    assert touched
    assert touched <= {"UPDATE", "DELETE"}
    succeeded(await edit(server, lives, {"metadata": {"mine": True}}))
    assert error_of(await apply(server, planned["plan_id"])) == (409, "plan_outdated")
    assert await told(server) == ["Lives in Wien"]
    again = await server.post(MEMORIES, moved)
    succeeded(await apply(server, again["plan_id"]))
    assert "Lives in Wien" not in await told(server)


async def test_a_plan_is_refused_when_a_memory_that_it_adds_was_added_meanwhile(server):
    planned = await server.post(MEMORIES, SAID | {"dry_run": True})
    succeeded(await server.ask("POST", MEMORIES, SAID))
    before = await told(server)
    assert error_of(await apply(server, planned["plan_id"])) == (409, "plan_outdated")
    assert await told(server) == before


@pytest.mark.parametrize(
    ("planned", "meanwhile"),
    [
        ("I live in Bern.", "I live in Basel."),
        ("I am vegan.", "I am not vegan."),
        ("I like tea.", "I do not like tea."),
        ("My name is Bob.", "My name is Al."),
    ],
)
async def test_a_plan_is_refused_when_what_was_added_meanwhile_settles_its_fact(server, planned, meanwhile):
    said = {"messages": [{"role": "user", "content": planned}], "user_id": "mira"}
    plan = await server.post(MEMORIES, said | {"dry_run": True})
    await server.post(MEMORIES, said | {"messages": [{"role": "user", "content": meanwhile}]})
    before = await told(server)
    assert error_of(await apply(server, plan["plan_id"])) == (409, "plan_outdated")
    assert await told(server) == before
    succeeded(await apply(server, (await server.post(MEMORIES, said | {"dry_run": True}))["plan_id"]))
    assert len(await told(server)) == 1


@pytest.mark.parametrize("text", ["Lives in Basel", "Resides in Bern"])
async def test_a_plan_is_refused_when_its_fact_was_settled_by_hand_meanwhile(server, text):
    (home,) = await remember(server, "Likes tea")
    said = {"messages": [{"role": "user", "content": "I live in Bern."}], "user_id": "mira", "dry_run": True}
    plan = await server.post(MEMORIES, said)
    succeeded(await edit(server, home, {"memory": text}))
    assert error_of(await apply(server, plan["plan_id"])) == (409, "plan_outdated")
    assert await told(server) == [text]


async def test_a_plan_stands_beside_other_facts_and_what_is_gone_again(server):
    said = {"messages": [{"role": "user", "content": "I live in Bern."}], "user_id": "mira"}
    plan = await server.post(MEMORIES, said | {"dry_run": True})
    await server.post(MEMORIES, SAID)
    succeeded(await server.ask("POST", f"{MEMORIES}/changes/{(await log(server))[0]['id']}/undo"))
    await remember(server, "Likes Bern", "Works in Basel", "Sister lives in Basel")
    await server.post(MEMORIES, said | {"messages": [{"role": "user", "content": "I live in Rome."}], "infer": False})
    succeeded(await apply(server, plan["plan_id"]))
    assert "Lives in Bern" in await told(server)


async def test_an_import_that_was_planned_is_refused_when_a_newer_fact_contradicts_it(server):
    planned = await plan_import(server, {"memory": "Lives in Bern"})
    await server.post(MEMORIES, {"messages": [{"role": "user", "content": "I live in Basel."}], "user_id": "mira"})
    assert error_of(await apply(server, planned["plans"][0]["plan_id"])) == (409, "plan_outdated")
    assert await told(server) == ["Lives in Basel"]


async def test_words_are_planned_to_be_kept_as_they_are(server):
    planned = await server.post(MEMORIES, SAID | {"dry_run": True, "infer": False})
    assert [one["reason"] for one in planned["results"]] == ["verbatim"]
    succeeded(await apply(server, planned["plan_id"]))
    assert await told(server) == [SAID["messages"][0]["content"]]


async def test_an_import_is_planned_for_each_user(server, tmp_path):
    await remember(server, "Likes tea")
    before = files_in(tmp_path)
    lines = [{"memory": "Likes tea"}, {"memory": "Rows"}, {"memory": "Likes snow", "user_id": "noah"}]
    planned = await plan_import(server, *lines)
    assert (planned["imported"], planned["skipped"]) == (2, 1)
    assert files_in(tmp_path) == before
    of_mira, of_noah = planned["plans"]
    assert [(of["user_id"], [one["memory"] for one in of["results"]]) for of in (of_mira, of_noah)] == [
        ("mira", ["Rows"]),
        ("noah", ["Likes snow"]),
    ]
    succeeded(await apply(server, of_mira["plan_id"]))
    assert sorted(await told(server)) == ["Likes tea", "Rows"]
    assert await told(server, "noah") == []


async def test_a_plan_of_another_user_or_project_is_not_found(server):
    planned = await server.post(MEMORIES, SAID | {"dry_run": True})
    for query in ("?user_id=noah", "?project=other"):
        assert error_of(await apply(server, planned["plan_id"], query)) == (404, "plan_not_found")
    assert error_of(await apply(server, "pln_0")) == (404, "plan_not_found")
    assert await told(server) == []


async def test_a_plan_goes_with_what_is_forgotten(server):
    await remember(server, "Likes tea")
    planned = await server.post(MEMORIES, SAID | {"dry_run": True})
    succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira"))
    assert error_of(await apply(server, planned["plan_id"])) == (404, "plan_not_found")


async def test_a_dry_run_answers_at_once_or_not_at_all(server):
    refused = await server.ask("POST", MEMORIES, SAID | {"dry_run": True, "async_mode": True})
    assert error_of(refused) == (422, "validation_error")


async def test_plans_are_dropped_after_ten_minutes_and_beyond_their_bound(server):
    clock, mira = SetClock(), Scope(project="default", user="mira")
    kept: list[PlanId] = []
    plans = Plans(server.parts.memory.store, KeyedLock(), clock)
    for number in range(MOST_PLANS + 1):
        rehearsal = await plans.rehearsal(mira)
        await rehearsal.commit(mira, [fact(f"Likes number {number}", scope=mira)], ASKED)
        kept.append(present(plans.keep(rehearsal).plan_id))
    here = Project(tenant="default", project="default")
    with pytest.raises(NotFound):
        await plans.apply(here, kept[0])
    assert len(await plans.apply(here, kept[1])) == 1
    clock.move(minutes=10)
    with pytest.raises(NotFound):
        await plans.apply(here, kept[2])
