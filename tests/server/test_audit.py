"""The audit log: what is written down, by whom, and that a change of it shows."""

import asyncio
import json
from contextlib import closing
from datetime import UTC, datetime, timedelta

import apsw
import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.access.audit import Audit
from mnemoir.core.data_directory import ACCESS_FILE
from mnemoir.core.errors import StorageUnavailable
from mnemoir.settings import load_settings
from tests.server.server_kit import Server, hello, succeeded
from tests.server.storages import database_settings  # noqa: F401  # the fixture

SECRET = "Plays the cello on Tuesdays"
SAID = {"messages": [{"role": "user", "content": SECRET}], "user_id": "mira", "infer": False}


@pytest.fixture
async def keyed(open_server):
    """A server with keys, and the headers of each."""
    server = await open_server()
    made = {role: server.parts.access.api_keys.create(role=role, by="test") for role in ("read", "admin", "operator")}
    return (
        server,
        {role: {"x_api_key": text} for role, (_, text) in made.items()},
        {r: k.id for r, (k, _) in made.items()},
    )


async def entries(server: Server, headers, **query) -> list[dict]:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    found: list[dict] = (await server.get(f"/api/audit?{asked}", **headers["operator"]))["results"]
    return found


async def test_an_act_has_an_entry_before_it_and_its_result_behind_it_and_no_words(keyed):
    server, headers, ids = keyed
    await server.post("/api/memories", SAID, **headers["admin"])
    succeeded(await server.ask("DELETE", "/api/memories?user_id=mira", **headers["admin"]))
    end, begin = await entries(server, headers, action="memories.delete_all")
    done = "/api/memories user_id=mira project=default"
    assert (begin["actor"], begin["target"], begin["result"]) == (ids["admin"], done, "begun")
    assert (end["of"], end["result"], end["request_id"]) == (begin["number"], "200", begin["request_id"])
    assert SECRET not in json.dumps(await entries(server, headers, limit=1000))


@pytest.mark.parametrize(
    ("method", "target", "body", "action"),
    [
        ("GET", "/api/export?user_id=mira", None, "memories.export"),
        ("POST", "/api/import", {"memory": SECRET, "user_id": "mira", "created_at": "2026-01-01"}, "memories.import"),
        ("GET", "/api/conversations/export?user_id=mira", None, "conversations.export"),
        ("DELETE", "/api/conversations?user_id=mira", None, "conversations.delete_all"),
        ("DELETE", "/api/conversations/tea%2Ftime?user_id=mira", None, "conversations.forget"),
        ("POST", "/api/conversations/prune?user_id=mira", {"days": 1}, "conversations.prune"),
        ("POST", "/api/conversations/node-memory/cleanup?user_id=mira", {}, "node_memory.cleanup"),
        ("PUT", "/api/memories/settings", {"searchLimit": 3}, "settings.change"),
        ("DELETE", "/api/memories/extraction-prompt", None, "settings.change"),
        ("GET", "/api/%65xport?user_id=mira", None, "memories.export"),
        ("DELETE", "/api/mem%6Fries?user_id=mira", None, "memories.delete_all"),
    ],
)
async def test_acts_on_all_of_somebody_s_data_and_on_settings_are_written_down(keyed, method, target, body, action):
    server, headers, _ = keyed
    answer = await server.ask(method, target, body, **headers["admin"])
    results = [entry["result"] for entry in await entries(server, headers, action=action)]
    assert results == [str(answer.status), "begun"]


async def test_an_act_about_a_user_in_its_path_names_that_user_whatever_the_name_holds(keyed):
    server, headers, _ = keyed
    for method, target, user in (
        ("PUT", "/api/holds/a%2Fexport", "a/export"),
        ("DELETE", "/api/holds/a%2Ferase", "a/erase"),
        ("POST", "/api/subjects/a%2Fexport/export", "a/export"),
    ):
        await server.ask(method, target, {}, **headers["admin"])
        assert ({entry["user"] for entry in await entries(server, headers, limit=2)}, target) == ({user}, target)


async def test_the_making_and_ending_of_keys_is_written_down_with_the_change(keyed):
    server, headers, ids = keyed
    answer = await server.ask("POST", "/api/keys", {"role": "read"}, **headers["admin"])
    new = json.loads(answer.body)
    await server.ask("POST", f"/api/keys/{new['id']}/rotate", {}, **headers["admin"])
    await server.ask("DELETE", f"/api/keys/{new['id']}", **headers["admin"])
    found = [(entry["action"], entry["actor"]) for entry in await entries(server, headers, limit=3)]
    assert found == [(f"keys.{act}", ids["admin"]) for act in ("revoke", "rotate", "create")]


async def test_refusals_are_counted_and_written_by_the_end(keyed, tmp_path):
    server, headers, ids = keyed
    for _ in range(7):
        await server.ask("GET", "/api/projects", x_api_key="mn_live_aaaaaaaa_" + "x" * 43)
    for _ in range(3):
        await server.ask("DELETE", "/api/memories?user_id=mira", **headers["read"])
    await server.ask("GET", "/api/projects", x_api_key="a-wrong-one", api_key="another-wrong-one")
    await server.parts.access.audit.aclose()
    found = {
        (entry["actor"], entry["result"]): entry["count"]
        for entry in await entries(server, headers, action="refused")
    }
    assert found == {("anybody", "401"): 7, ("anybody", "400"): 1, (ids["read"], "403"): 3}


async def test_an_admin_reads_the_log_of_its_tenant_alone(keyed):
    server, *_ = keyed
    theirs = server.parts.access.api_keys.create(role="admin", tenant="acme", by="test")[1]
    listed = (await server.get("/api/audit", x_api_key=theirs))["results"]
    assert [(entry["tenant"], entry["action"]) for entry in listed] == [("acme", "keys.create")]


async def test_an_admin_of_one_user_reads_its_own_acts_alone(keyed):
    server, headers, _ = keyed
    key, text = server.parts.access.api_keys.create(role="admin", user="noa", by="test")
    await server.ask("GET", "/api/export?user_id=mira", **headers["admin"])
    await server.ask("GET", "/api/export", x_api_key=text)
    listed = (await server.get("/api/audit", x_api_key=text))["results"]
    assert [(entry["actor"], entry["action"]) for entry in listed] == [(key.id, "memories.export")] * 2


async def test_the_log_is_read_page_by_page(keyed):
    server, headers, _ = keyed
    first = await server.get("/api/audit?limit=2", **headers["operator"])
    rest = await server.get(f"/api/audit?limit=9&cursor={first['next']}", **headers["operator"])
    numbers = [entry["number"] for entry in (*first["results"], *rest["results"])]
    assert (numbers, rest["next"]) == ([3, 2, 1], None)


async def test_the_log_is_narrowed_to_one_actor_and_to_one_day(keyed):
    server, headers, ids = keyed
    await server.ask("GET", "/api/export", **headers["admin"])
    acts = [entry["action"] for entry in await entries(server, headers, actor=ids["admin"])]
    assert acts == ["memories.export"] * 2
    newest, *_ = listed = await entries(server, headers)
    assert await entries(server, headers, day=newest["at"][:10]) == listed
    assert await entries(server, headers, day="2001-02-03") == []
    assert (await server.ask("GET", "/api/audit?day=soon", **headers["operator"])).status == 422


async def test_an_admin_of_one_user_cannot_ask_for_the_acts_of_others(keyed):
    server, headers, ids = keyed
    text = server.parts.access.api_keys.create(role="admin", user="noa", by="test")[1]
    await server.ask("GET", "/api/export?user_id=mira", **headers["admin"])
    assert (await server.get(f"/api/audit?actor={ids['admin']}", x_api_key=text))["results"] == []


async def test_a_server_without_keys_writes_no_log(server, tmp_path):
    succeeded(await server.ask("DELETE", "/api/memories?user_id=mira"))
    assert not list(tmp_path.rglob(ACCESS_FILE))
    assert (await server.get("/api/audit"))["results"] == []


async def test_what_cannot_be_written_down_is_not_done(keyed, monkeypatch):
    server, headers, _ = keyed
    await server.post("/api/memories", SAID, **headers["admin"])

    def full() -> None:
        raise StorageUnavailable("The disk is full.")

    monkeypatch.setattr(server.parts.access.file, "audit_log", full)
    answer = await server.ask("DELETE", "/api/memories?user_id=mira", **headers["admin"])
    assert answer.status == 503
    assert len((await server.get("/api/memories?user_id=mira", **headers["admin"]))["results"]) == 1


@pytest.fixture
def log(tmp_path):
    """A log with some entries, and its file."""
    settings = load_settings(None, {"storage.data_dir": str(tmp_path)}, environ={})
    with closing(AccessFile(settings)) as file:
        for number in range(4):
            ApiKeys(file).create(role="read", label=str(number), by="test")
        yield Audit(settings, file), tmp_path / ACCESS_FILE


def changed(path, statement: str) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM audit WHERE number = 2", "entries 2 to 2 are missing"),
        ("UPDATE audit SET actor = 'somebody' WHERE number = 3", "entry 3 was changed"),
        ("UPDATE audit SET target = 'other' WHERE number = 3", "the names in entry 3 were changed"),
        ("UPDATE audit SET target = '' WHERE number = 3", "entry 3 lacks its names, and nobody"),
        ("UPDATE audit SET number = 5 WHERE number = 4", "entries 4 to 4 are missing"),
        (
            "INSERT INTO audit SELECT 5, at, tenant, actor, action, target, result, request_id, address, of, count,"
            " chain, user, names, subject FROM audit WHERE number = 4",
            "entry 5 was changed",
        ),
    ],
)
def test_a_removed_changed_or_inserted_row_is_found(log, statement, said):
    audit, path = log
    assert audit.problems() == []
    changed(path, statement)
    assert [problem.startswith(said) for problem in audit.problems()] == [True]


def test_an_act_without_a_result_is_named(tmp_path):
    settings = load_settings(None, {"storage.data_dir": str(tmp_path)}, environ={})
    began = datetime(2026, 3, 4, tzinfo=UTC)
    now = [began]
    with closing(AccessFile(settings)) as file:
        audit = Audit(settings, file, lambda: now[0])
        asyncio.run(audit.begin("memories.delete_all", "/api/memories", "", "", "default"))
        assert audit.problems() == []  # it may be under way
        now[0] += timedelta(hours=1)
        assert audit.problems() == [
            "entry 1: memories.delete_all of 2026-03-04T00:00:00.000Z was begun and has no result"
        ]


async def test_reads_of_a_user_s_data_by_a_key_for_all_are_written_once_an_hour_with_their_number(keyed):
    server, headers, ids = keyed
    own = {"x_api_key": server.parts.access.api_keys.create(role="read", user="mira", by="test")[1]}
    for _ in range(3):
        await server.get("/api/memories/mira", **headers["read"])
        await server.get("/api/memories/mira", **own)
    await server.post("/api/memories/search", {"query": "cello", "user_id": "noa"}, **headers["read"])
    await server.parts.access.audit.aclose()
    found = await entries(server, headers, action="users.read")
    assert [(one["actor"], one["user"], one["count"]) for one in found] == [
        (ids["read"], "noa", 1),
        (ids["read"], "mira", 3),
    ]


async def test_reads_by_an_id_and_of_all_users_name_whose_data_they_show(keyed):
    server, headers, ids = keyed
    said = {"messages": [{"role": "user", "content": "I row."}], "user_id": "mira", "infer": False}
    memory = (await server.post("/api/memories", said, **headers["admin"]))["results"][0]["id"]
    await server.post("/v1/chat/completions", hello(user="noa"), **headers["admin"])
    [run] = (await server.get("/api/runs", **headers["admin"]))["results"]
    for path in (f"/api/memories/{memory}/history", "/api/export", "/api/runs", f"/api/runs/{run['id']}"):
        await server.ask("GET", path, **headers["read"])
    await server.parts.access.audit.aclose()
    found = await entries(server, headers, action="users.read", actor=ids["read"])
    assert {(one["user"], one["count"]) for one in found} == {("mira", 2), ("noa", 2)}


async def test_old_entries_go_and_the_rest_still_verifies_and_is_anchored(tmp_path):
    anchor = tmp_path / "elsewhere.txt"
    given = {"storage.data_dir": str(tmp_path), "audit.keep_days": 10, "audit.anchor": str(anchor)}
    settings, now = load_settings(None, given, environ={}), [datetime(2026, 3, 1, tzinfo=UTC)]
    with closing(AccessFile(settings, lambda: now[0])) as file:
        for _ in range(6):
            now[0] += timedelta(days=3)
            ApiKeys(file, lambda: now[0]).create(role="read", by="test")
        audit = Audit(settings, file, lambda: now[0])
        audit.prune()
        audit.look_after()
        kept = await audit.newest(None, limit=9, before=None, action=None)
        assert [entry.number for entry in kept] == [6, 5, 4, 3]
        assert audit.problems() == []
        assert anchor.read_text().split()[1:] == ["6", kept[0].chain.hex()]


@pytest.mark.parametrize("cut", ["DELETE FROM audit WHERE number > 1", "DELETE FROM audit"])
def test_entries_cut_off_at_the_end_show_by_the_anchor_also_when_others_follow(tmp_path, cut):
    anchor = tmp_path / "elsewhere.txt"
    settings = load_settings(None, {"storage.data_dir": str(tmp_path), "audit.anchor": str(anchor)}, environ={})
    with closing(AccessFile(settings)) as file:
        audit = Audit(settings, file)
        for _ in range(2):
            ApiKeys(file).create(role="read", by="test")
            audit.look_after()
        assert audit.problems() == []
        with closing(apsw.Connection(str(tmp_path / ACCESS_FILE))) as other:
            other.execute(cut)
        for _ in range(2):
            assert "is missing or was changed: it stands in" in audit.problems()[0]
            ApiKeys(file).create(role="read", by="test")


def test_entries_cut_off_at_the_beginning_show_also_after_others_went_by_age(tmp_path):
    given = {"storage.data_dir": str(tmp_path), "audit.keep_days": 10}
    settings, now = load_settings(None, given, environ={}), [datetime(2026, 3, 1, tzinfo=UTC)]
    with closing(AccessFile(settings, lambda: now[0])) as file:
        for _ in range(6):
            ApiKeys(file, lambda: now[0]).create(role="read", by="test")
            now[0] += timedelta(days=3)
        audit = Audit(settings, file, lambda: now[0])
        with closing(apsw.Connection(str(tmp_path / ACCESS_FILE))) as other:
            chain = other.execute("SELECT hex(chain) FROM audit WHERE number = 2").get
            other.execute("DELETE FROM audit WHERE number <= 2")
            other.execute("INSERT INTO access VALUES ('audit_pruned', ?)", [json.dumps([2, chain.lower()])])
        assert audit.problems() == ["entries up to 2 were removed, and not by age"]
        audit.prune()
        assert audit.problems() == ["entries up to 3 were removed, and not by age"]
