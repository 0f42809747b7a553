"""Everything of a person is exported and erased, nothing of anybody else is, and nothing of a person on hold."""

import asyncio
import io
import json
import zipfile
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from mnemoir.chats.remembering import queue_of
from mnemoir.conversations.nodes.keys import node_key
from mnemoir.core.scope import Principal, Scope
from mnemoir.core.users import Grant
from mnemoir.storage.sql.access.users import Identity
from tests.remembering_model import learn_every_turn
from tests.server.server_kit import Server, asks, error_of, hello, succeeded
from tests.server.sign_in.page import joined, told
from tests.storage.sealing_kit import a_key
from tests.workflows.nodes.pictures import png

MIRA, OTTO = "mira.zanzibar", "otto.tandem"
QUINCE, HARP = "Zanzibarquince", "Tandemzinnober"
NO_MEMORIES = {"format": "mnemoir-discussion", "version": 1}


async def everything_of(server: Server, user: str, word: str, headers: dict[str, str], project: str) -> None:
    """A person with every kind of thing that is kept of one."""
    at = f"user_id={user}&project={project}"
    for text in (f"Owns a {word} lamp", f"Owns a {word} boat"):
        said = {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}
        added = await server.post(f"/api/memories?project={project}", said, **headers)
    memory = f"/api/memories/{added['results'][0]['id']}?project={project}"
    succeeded(await server.ask("PATCH", f"{memory}&user_id={user}", {"memory": f"Owns a {word} ship"}, **headers))
    succeeded(await server.ask("DELETE", memory, **headers))
    picture = f"data:image/png;base64,{b64encode(png(filler=word.encode())).decode()}"
    parts = [{"type": "text", "text": f"A {word}?"}, {"type": "image_url", "image_url": {"url": picture}}]
    for content in (parts, f"Or rather two {word}s?"):  # two branches
        chat = {"model": "mnemoir", "user": user, "conversation_id": f"talk-{word}", "memoryEnabled": True}
        chat["messages"] = [{"role": "user", "content": content}]
        await server.post(f"/v1/chat/completions?project={project}", chat, **headers)
    title = {"title": f"On {word}"}
    succeeded(await server.ask("PATCH", f"/api/conversations/talk-{word}?{at}", title, **headers))
    async with server.parts.chats.conversations.of(Scope(project=project, user=user)) as own:
        own.node_parts.objects.save(node_key("app", f"talk-{word}", "node"), json.dumps({word: 1}).encode())
    succeeded(await server.ask("POST", "/api/memories/search", {"query": word, "user_id": user}, **headers))
    await server.ask("GET", f"/api/export?{at}", **headers)


async def learned(server: Server, scope: Scope) -> None:
    """Until everything is made of what the user said."""
    jobs, unfinished = server.parts.upkeep.jobs, ("PENDING", "RUNNING")
    async with asyncio.timeout(60):
        while any(job.state in unfinished for job in await jobs.stored_jobs(queue_of(scope))):  # noqa: ASYNC110  # no answer tells it
            await asyncio.sleep(0.002)


def holding(folder: Path, *words: str) -> dict[str, list[str]]:
    """The files with any of the words in their bytes or their paths, by word."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = {
        word: [str(file) for file in files if word in str(file) or word.encode() in file.read_bytes()]
        for word in words
    }
    return {word: places for word, places in found.items() if places}


async def archive_of(server: Server, user: str, headers: dict[str, str]) -> dict[str, bytes]:
    answer = await server.ask("POST", f"/api/subjects/{user}/export", **headers)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
async def two(open_server, llm):
    """A server with keys that holds two people, one of them in two projects; the headers of an admin."""
    learn_every_turn(llm, lambda extraction: None)
    server = await open_server(asks(llm))
    keys = server.parts.access.api_keys
    admin = {"x_api_key": keys.create(role="admin", by="test")[1]}
    for user, word, projects in ((MIRA, QUINCE, ("default", "kitchen")), (OTTO, HARP, ("default",))):
        keys.create(role="write", user=user, label=f"phone of {user}", by="test")
        for project in projects:
            await everything_of(server, user, word, admin, project)
            await learned(server, Scope(project=project, user=user))
    return server, admin


async def test_an_archive_holds_everything_of_the_person_and_nothing_of_others(two):
    server, admin = two
    found = await archive_of(server, MIRA, admin)
    place = "projects/kitchen"
    kinds = ("current_memories", "memories", "history", "conversations", "runs")
    assert {f"{place}/{kind}.jsonl" for kind in kinds} <= found.keys()
    assert {"about.json", "keys.jsonl", "audit.jsonl"} <= found.keys()
    assert [name for name in found if name.startswith(f"{place}/objects/")]
    text = b"".join(found.values()).decode("utf-8", "replace")
    for word in (f"Owns a {QUINCE} boat", f"Owns a {QUINCE} ship", f"Or rather two {QUINCE}s?", f"On {QUINCE}"):
        assert word in text, word
    assert HARP not in text
    assert OTTO not in text
    (key,) = map(json.loads, found["keys.jsonl"].splitlines())
    assert (key["label"], key["hash"]) == (f"phone of {MIRA}", None)


@pytest.mark.parametrize("mode", ["off", "fields"])
async def test_an_archive_tells_what_placeholders_stand_for(open_server, llm, tmp_path, mode):
    (tmp_path / "kek").write_text(a_key())
    (tmp_path / "kek").chmod(0o600)
    sealed = {"encryption.mode": mode, "encryption.key_file": str(tmp_path / "kek")}
    server = await open_server(asks(llm, **sealed, **{"pii.policy.messages": "redact", "pii.reversible": True}))
    messages = [{"role": "user", "content": "Write to quince@example.org"}]
    await server.post("/v1/chat/completions", {"messages": messages, "user": MIRA, "session_id": "c1"})
    found = await archive_of(server, MIRA, {})
    (value,) = map(json.loads, found["projects/default/personal_data.jsonl"].splitlines())
    assert (value["label"], value["original"], value["session_id"]) == ("EMAIL 1", "quince@example.org", "c1")
    report = succeeded(await server.ask("POST", f"/api/subjects/{MIRA}/erase"))
    assert report["counts"]["personal_data"] == 1


async def test_an_archive_tells_where_the_person_is_signed_in(two):
    server, admin = two
    await joined(server, "anna")
    (account,) = map(json.loads, (await archive_of(server, "anna", admin))["accounts.jsonl"].splitlines())
    (session,) = server.parts.access.sessions.sessions_of_user(account["id"])
    told = [(one["id"], one["address"], one["agent"]) for one in account["sessions"]]
    assert (account["name"], told) == ("anna", [(session.id, session.address, session.agent)])
    assert account["passkeys"] == []


async def test_an_archive_holds_the_counted_tokens_also_where_no_traces_are_kept(open_server, llm):
    server = await open_server(asks(llm, **{"runs.enabled": False}))
    for user in (MIRA, OTTO, MIRA):
        await server.post("/v1/chat/completions", hello(user=user))
    (used,) = map(json.loads, (await archive_of(server, MIRA, {}))["usage.jsonl"].splitlines())
    (of_otto,) = map(json.loads, (await archive_of(server, OTTO, {}))["usage.jsonl"].splitlines())
    assert used["input_tokens"] == 2 * of_otto["input_tokens"] > 0


async def test_nothing_of_an_erased_person_is_left_and_all_of_others_is(two, tmp_path):
    server, admin = two
    data = tmp_path / "data"
    others = await archive_of(server, OTTO, admin)
    answer = await server.ask("POST", f"/api/subjects/{MIRA}/erase", **admin)
    report = succeeded(answer)
    assert report["projects"] == ["default", "kitchen"]
    wanted = {"memories", "history", "conversations", "messages", "objects", "runs", "keys", "audit_entries"}
    assert [name for name in sorted(wanted) if not report["counts"].get(name)] == []
    assert holding(data, MIRA, QUINCE) == {}
    assert holding(data, HARP).keys() == {HARP}
    after = await archive_of(server, OTTO, admin)
    changed = {"about.json", "audit.jsonl"}  # the time, and the export itself
    assert {name for name in others if others[name] != after[name]} <= changed
    assert server.parts.access.audit.problems() == []
    again = succeeded(await server.ask("POST", f"/api/subjects/{MIRA}/erase", **admin))
    assert not any(count for name, count in again["counts"].items() if name != "audit_entries")
    await server.parts.aclose()
    assert holding(data, MIRA, QUINCE) == {}


async def test_what_an_admin_did_names_nobody_after_they_were_erased(two, tmp_path):
    server, admin = two
    page = await joined(server, "Zanzibarina", "admin")
    for method, path, body in (
        ("POST", "/api/keys", {"role": "read"}),
        ("POST", "/api/invitations", {"role": "read"}),
        ("PUT", f"/api/holds/{OTTO}", {"reason": "Case 12"}),
        ("GET", f"/api/export?user_id={OTTO}", None),
    ):
        assert (await page.ask(method, path, body)).status < 300
    assert told(await page.ask("GET", "/api/me"))["name"] == "Zanzibarina"
    succeeded(await server.ask("POST", "/api/subjects/zanzibarina/erase", **admin))
    assert holding(tmp_path / "data", "zanzibarina", "Zanzibarina") == {}
    assert server.parts.access.audit.problems() == []


async def test_entries_about_a_person_s_keys_sign_in_and_tokens_name_nobody_after_an_erasure(two, tmp_path):
    server, admin = two
    access, known = server.parts.access, Identity("https://id.example", QUINCE)
    access.users.create(Grant(role="write", memory_user=MIRA), "Cook", known)
    await access.audit.note(Principal(user=MIRA, key="token"), "tokens.use", f"{known.issuer} {known.subject}", "::1")
    access.file.note_act("encryption.rotate", MIRA, "default", "done")
    assert holding(tmp_path / "data", MIRA, QUINCE).keys() == {MIRA, QUINCE}
    succeeded(await server.ask("POST", f"/api/subjects/{MIRA}/erase", **admin))
    assert holding(tmp_path / "data", MIRA, QUINCE) == {}
    assert access.audit.problems() == []


async def test_a_person_who_comes_back_begins_anew(two):
    server, admin = two
    await server.post("/api/memories/search", {"query": QUINCE, "user_id": MIRA}, **admin)
    succeeded(await server.ask("POST", f"/api/subjects/{MIRA}/erase", **admin))
    said = {"messages": [{"role": "user", "content": "Rows on the lake"}], "user_id": MIRA, "infer": False}
    await server.post("/api/memories", said, **admin)
    found = await server.post("/api/memories/search", {"query": "lake", "user_id": MIRA}, **admin)
    assert [one["memory"] for one in found["results"]] == ["Rows on the lake"]


async def test_in_one_project_alone_the_other_one_stays(two):
    server, admin = two
    report = succeeded(await server.ask("POST", f"/api/subjects/{MIRA}/erase?project=kitchen", **admin))
    assert (report["projects"], "keys" in report["counts"]) == (["kitchen"], False)
    assert server.parts.access.audit.problems() == []
    found = await archive_of(server, MIRA, admin)
    assert {name.split("/")[1] for name in found if name.startswith("projects/")} == {"default"}


async def test_nothing_of_a_person_on_hold_is_deleted(two):
    server, admin = two
    succeeded(await server.ask("PUT", f"/api/holds/{MIRA}", {"reason": "Case 12"}, **admin))
    whose = f"user_id={MIRA}"
    talk = f"/api/conversations/talk-{QUINCE}"
    before = await archive_of(server, MIRA, admin)
    copy = (await server.ask("GET", f"/api/conversations/export?{whose}", **admin)).body
    copy = copy.replace(f"Or rather two {QUINCE}s?".encode(), b"Nothing was said.")
    for method, target, body in (
        ("POST", f"/api/subjects/{MIRA}/erase", None),
        ("DELETE", f"/api/memories?{whose}", None),
        ("DELETE", f"/api/conversations?{whose}", None),
        ("DELETE", f"{talk}?{whose}", None),
        ("DELETE", f"{talk}/node-memory?{whose}", None),
        ("DELETE", f"/api/discussions/talk-{QUINCE}", None),
        ("POST", f"/api/conversations/prune?{whose}", {"days": 1}),
        ("POST", f"/api/conversations/node-memory/cleanup?{whose}", {}),
        ("POST", f"/api/conversations/import?{whose}&on_conflict=replace", copy),
        ("POST", f"/api/discussions/talk-{QUINCE}/import?replace=true", NO_MEMORIES),
        ("POST", f"/api/discussions/talk-{QUINCE}/rebuild", {}),
    ):
        answer = await server.ask(method, target, body, **admin)
        assert (error_of(answer), target) == ((409, "legal_hold"), target)
    after = await archive_of(server, MIRA, admin)
    changed = {"about.json", "audit.jsonl"}
    assert {name for name in before if before[name] != after[name]} <= changed
    listed = await server.get("/api/holds", **admin)
    assert [(hold["user_id"], hold["reason"]) for hold in listed["results"]] == [(MIRA, "Case 12")]
    assert server.parts.access.audit.problems() == []
    succeeded(await server.ask("DELETE", f"/api/holds/{MIRA}", **admin))
    assert succeeded(await server.ask("DELETE", f"/api/memories?{whose}", **admin))["deleted"] > 0


async def test_a_key_of_one_user_exports_and_erases_that_user_alone(two):
    server, _ = two
    own = {"x_api_key": server.parts.access.api_keys.create(role="admin", user=OTTO, by="test")[1]}
    for act in ("export", "erase"):
        refused = [await server.ask("POST", f"/api/subjects/{user}/{act}", **own) for user in (MIRA, "nobody")]
        assert [answer.status for answer in refused] == [404, 404]
    assert f"Owns a {HARP} lamp".encode() in b"".join((await archive_of(server, OTTO, own)).values())
    assert error_of(await server.ask("PUT", f"/api/holds/{OTTO}", {"reason": "x"}, **own)) == (403, "forbidden")


async def test_a_key_of_another_tenant_finds_and_erases_nothing(two):
    server, admin = two
    theirs = {"x_api_key": server.parts.access.api_keys.create(role="admin", tenant="acme", by="test")[1]}
    assert (await archive_of(server, MIRA, theirs)).keys() == {"about.json", "audit.jsonl"}
    report = succeeded(await server.ask("POST", f"/api/subjects/{MIRA}/erase", **theirs))
    assert (report["projects"], report["counts"]["keys"]) == ([], 0)
    assert (await server.ask("POST", f"/api/subjects/{MIRA}/erase?tenant=default", **theirs)).status == 403
    assert f"Owns a {QUINCE} boat".encode() in b"".join((await archive_of(server, MIRA, admin)).values())


@pytest.mark.parametrize("name", ["a%2Fb", "a%0Ab", "erase", "über"])
async def test_names_of_any_form_are_erased(server, name, tmp_path):
    user = unquote(name)
    said = {"messages": [{"role": "user", "content": QUINCE}], "user_id": user, "infer": False}
    await server.post("/api/memories", said)
    report = succeeded(await server.ask("POST", f"/api/subjects/{quote(user, safe='')}/erase"))
    assert (report["user_id"], report["counts"]["memories"]) == (user, 1)
    assert holding(tmp_path / "data", QUINCE) == {}


@pytest.mark.usefixtures("trusted_clock")
async def test_a_run_deletes_what_its_dry_run_counted_and_nothing_of_a_person_on_hold(open_server):
    server = await open_server({"retention.memories_days": 30, "memory.auto_prune_days": 30})
    await server.parts.upkeep.pruning.aclose()  # the server's own first run may come between, and delete it
    for user in (MIRA, OTTO):
        line = {"memory": f"Owns a {QUINCE}", "user_id": user, "created_at": "2024-01-01T00:00:00Z"}
        succeeded(await server.ask("POST", "/api/import", line))
    succeeded(await server.ask("PUT", f"/api/holds/{OTTO}", {"reason": "Case 12"}))
    counted = succeeded(await server.ask("POST", "/api/retention/run?dry_run=true"))
    done = succeeded(await server.ask("POST", "/api/retention/run"))
    assert (counted["counts"]["memories"], done["counts"]) == (1, counted["counts"])
    left = {user: (await server.get(f"/api/memories?user_id={user}"))["results"] for user in (MIRA, OTTO)}
    assert {user: len(found) for user, found in left.items()} == {MIRA: 0, OTTO: 1}
    again = succeeded(await server.ask("POST", "/api/retention/run?dry_run=true"))
    assert not any(again["counts"].values())


async def test_an_admin_who_signed_in_decides_about_the_users_of_the_tenant(two):
    server, admin = two
    anna, ben = await joined(server, "anna", "admin"), await joined(server, "ben")
    assert QUINCE.encode() not in (await anna.ask("GET", f"/api/memories?user_id={MIRA}")).body
    archive = await anna.ask("POST", f"/api/subjects/{MIRA}/export")
    with zipfile.ZipFile(io.BytesIO(archive.body)) as whole:
        assert QUINCE.encode() in b"".join(whole.read(name) for name in whole.namelist())
    held = told(await anna.ask("PUT", f"/api/holds/{MIRA}", {"reason": "Case 12"}))
    by = server.parts.access.users.user_by_name("anna").principal.key
    assert (held["set_by"], told(await anna.ask("GET", "/api/holds"))["results"]) == (by, [held])
    assert error_of(await anna.ask("POST", f"/api/subjects/{MIRA}/erase")) == (409, "legal_hold")
    told(await anna.ask("DELETE", f"/api/holds/{MIRA}"))
    for page in (ben, await joined(server, "cook", "admin", projects=["kitchen"])):
        refused = [(await page.ask("POST", f"/api/subjects/{MIRA}/{act}")).status for act in ("export", "erase")]
        assert set(refused) <= {403, 404}
    assert sum(told(await anna.ask("POST", f"/api/subjects/{MIRA}/erase"))["counts"].values()) > 0
    assert (await server.get(f"/api/memories?user_id={MIRA}", **admin))["results"] == []
    assert (await server.get(f"/api/memories?user_id={OTTO}", **admin))["results"] != []


# what settings, tenant and project say, None where one says nothing; and whether two years are too old then
DAYS = {
    "settings": (30, None, None, True),
    "tenant": (None, 30, None, True),
    "project": (None, None, 30, True),
    "tenant before settings": (30, 0, None, False),
    "project before tenant": (None, 30, 0, False),
    "project before both": (0, 0, 30, True),
    "nobody": (None, None, None, False),
}


@pytest.mark.usefixtures("trusted_clock")
@pytest.mark.parametrize("backend", ["sqlite", "file"])
@pytest.mark.parametrize("which", DAYS)
async def test_what_the_narrowest_says_is_kept_and_a_dry_run_counts_the_same(open_server, tmp_path, which, backend):
    of_settings, of_tenant, of_project, is_too_old = DAYS[which]
    days = {"retention.memories_days": of_settings} if of_settings else {}
    stored = {"storage.backend": backend, "storage.workspace_root": str(tmp_path / "workspace")}
    server = await open_server(days | stored)
    await server.parts.upkeep.pruning.aclose()  # the first run of its own may come between, and delete them
    keys = server.parts.access.api_keys
    admin = {"x_api_key": keys.create(role="admin", by="test")[1]}
    operator = {"x_api_key": keys.create(role="operator", by="test")[1]}
    if of_tenant is not None:
        body = {"name": "default", "retention": {"memories_days": of_tenant}}
        tenants = succeeded(await server.ask("PUT", "/api/tenants", body, **operator))["results"]
        assert [one["retention"] for one in tenants] == [{"memories_days": of_tenant}]
    for project in ("default", "kitchen"):
        line = {"memory": f"Owns a {QUINCE}", "user_id": MIRA, "created_at": "2024-01-01T00:00:00Z"}
        succeeded(await server.ask("POST", f"/api/import?project={project}", line, **admin))
    kitchen = {"memoriesDays": of_project}
    succeeded(await server.ask("PUT", "/api/memories/settings?project=kitchen", kitchen, **admin))
    told = await server.get("/api/memories/settings?project=kitchen", **admin)
    assert told["memoriesDays"] == (30 if is_too_old else 0)
    counted = succeeded(await server.ask("POST", "/api/retention/run?dry_run=true", **admin))["counts"]
    done = succeeded(await server.ask("POST", "/api/retention/run", **admin))["counts"]
    assert done == counted
    left = (await server.get(f"/api/memories?user_id={MIRA}&project=kitchen", **admin))["results"]
    assert len(left) == (0 if is_too_old else 1)


async def test_it_is_told_who_says_how_long_things_are_kept(open_server):
    server = await open_server({"retention.memories_days": 90, "retention.history_days": 60})
    keys = server.parts.access.api_keys
    admin = {"x_api_key": keys.create(role="admin", by="test")[1]}
    operator = {"x_api_key": keys.create(role="operator", by="test")[1]}
    body = {"name": "default", "retention": {"history_days": 9, "deleted_days": 0}}
    told = succeeded(await server.ask("PUT", "/api/tenants", body, **operator))
    assert told["retention"] == {"memories_days": 90, "history_days": 60, "deleted_days": 0}
    succeeded(await server.ask("PUT", "/api/memories/settings", {"memoriesDays": 90, "deletedDays": 30}, **admin))
    assert (await server.get("/api/memories/settings", **admin))["retention"] == {
        "own": {"memoriesDays": 90, "deletedDays": 30},
        "otherwise": {"memoriesDays": 90, "historyDays": 9, "deletedDays": 0},
    }


async def test_days_that_cannot_be_are_refused(open_server):
    server = await open_server()
    keys = server.parts.access.api_keys
    operator = {"x_api_key": keys.create(role="operator", by="test")[1]}
    for retention, place in (
        ({"years": 3}, "retention"),
        ({"memories_days": -1}, "retention.memories_days"),
        ({"deleted_days": 36_501}, "retention.deleted_days"),
    ):
        answer = await server.ask("PUT", "/api/tenants", {"name": "default", "retention": retention}, **operator)
        assert error_of(answer) == (422, "validation_error")
        assert [one["loc"] for one in json.loads(answer.body)["detail"]] == [[place]]
    body = {"name": "default", "retention": {"history_days": 9}}
    succeeded(await server.ask("PUT", "/api/tenants", body, **operator))
    succeeded(await server.ask("PUT", "/api/tenants", {"name": "default"}, **operator))
    [tenant] = (await server.get("/api/tenants", **operator))["results"]
    assert tenant["retention"] == {"history_days": 9}
    succeeded(await server.ask("PUT", "/api/tenants", {"name": "default", "retention": {}}, **operator))
    [tenant] = (await server.get("/api/tenants", **operator))["results"]
    assert tenant["retention"] == {}


async def test_a_person_in_project_files_is_erased_too(open_server, tmp_path):
    server = await open_server({"storage.backend": "file", "storage.workspace_root": str(tmp_path / "workspace")})
    for user, word in ((MIRA, QUINCE), (OTTO, HARP)):
        said = {"messages": [{"role": "user", "content": f"Owns a {word}"}], "user_id": user, "infer": False}
        await server.post("/api/memories", said)
        await server.post("/api/memories/search", {"query": word, "user_id": user})
    assert f"Owns a {QUINCE}".encode() in b"".join((await archive_of(server, MIRA, {})).values())
    report = succeeded(await server.ask("POST", f"/api/subjects/{MIRA}/erase"))
    assert report["counts"]["memories"] == 1
    assert holding(tmp_path, MIRA, QUINCE, HARP).keys() == {HARP}
