"""Quotas of users and tenants: what is refused, what goes on without, and what the refusal says."""

import asyncio
import base64

import orjson
import pytest

from tests.scripted_llm import Answer
from tests.server.server_kit import Server, asks, error_of, hello

CHAT, MEMORIES, TALKS = "/v1/chat/completions", "/api/memories", "/api/conversations"
PICTURE = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(4096)).decode()


def fact(text: str, user: str = "mira") -> dict:
    return {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}


def talk(id: str, count: int = 2, user: str = "mira") -> dict:
    return {"id": id, "user_id": user, "messages": [{"role": "user", "content": f"{id} {n}"} for n in range(count)]}


def refusal(answer) -> tuple[int, str, str, int, int, bool]:
    told = orjson.loads(answer.body)
    return (*error_of(answer), told["what"], told["used"], told["limit"], told["resets_at"] is None)


@pytest.mark.parametrize("backend", ["sqlite", "file"])
async def test_a_user_adds_memories_up_to_the_quota_and_again_after_deleting_one(open_server, tmp_path, backend):
    storage = {"storage.backend": backend, "storage.workspace_root": str(tmp_path / "work")}
    server = await open_server({"quotas.user.memories": 3} | storage)
    ids = [(await server.post(MEMORIES, fact(f"fact {n}")))["results"][0]["id"] for n in range(3)]
    refused = await server.ask("POST", MEMORIES, fact("fact 4"))
    assert refusal(refused) == (403, "quota_exceeded", "memories", 3, 3, True)
    await server.post(MEMORIES, fact("fact 1", "noa"))
    assert (await server.ask("DELETE", f"{MEMORIES}/{ids[0]}?user_id=mira")).status == 200
    await server.post(MEMORIES, fact("fact 4"))
    assert len((await server.get("/api/memories?user_id=mira"))["results"]) == 3


@pytest.mark.parametrize("backend", ["sqlite", "file"])
async def test_texts_of_memories_have_so_many_bytes_and_no_more(open_server, tmp_path, backend):
    storage = {"storage.backend": backend, "storage.workspace_root": str(tmp_path / "work")}
    server = await open_server({"quotas.user.memory_bytes": 100} | storage)
    first = (await server.post(MEMORIES, fact("ü" * 30)))["results"][0]["id"]
    refused = await server.ask("POST", MEMORIES, fact("z" * 41))
    assert refusal(refused) == (403, "quota_exceeded", "memory_bytes", 60, 100, True)
    second = (await server.post(MEMORIES, fact("z" * 40)))["results"][0]["id"]
    grown = await server.ask("PATCH", f"{MEMORIES}/{second}?user_id=mira", {"memory": "z" * 41})
    assert refusal(grown)[:3] == (403, "quota_exceeded", "memory_bytes")
    assert (await server.ask("PATCH", f"{MEMORIES}/{second}?user_id=mira", {"memory": "z" * 39})).status == 200
    await server.post(MEMORIES, fact("y" * 100, "noa"))
    assert (await server.ask("DELETE", f"{MEMORIES}/{first}?user_id=mira")).status == 200
    await server.post(MEMORIES, fact("x" * 61))


async def test_of_forty_texts_at_once_as_many_bytes_are_stored_as_the_quota_leaves(open_server):
    server = await open_server({"quotas.user.memory_bytes": 1000})
    answers = await asyncio.gather(*(server.ask("POST", MEMORIES, fact(f"{n:0100}")) for n in range(40)))
    assert sorted(answer.status for answer in answers) == [200] * 10 + [403] * 30


async def test_a_chat_beyond_the_bytes_of_memories_is_kept_and_nothing_is_learned(open_server, llm):
    server = await open_server(asks(llm) | {"quotas.user.memory_bytes": 5})
    await server.post(MEMORIES, fact("I row"))
    chat = hello(user="mira", conversation_id="talk", memoryEnabled=True)
    answer = await server.ask("POST", CHAT, chat)
    assert (answer.status, answer.headers["x-mnemoir-degraded"]) == (200, "quota-memory_bytes")
    assert (await server.ask("GET", f"{TALKS}/talk?user_id=mira")).status == 200


async def test_what_cannot_be_counted_is_not_kept_and_the_chat_goes_on_and_says_so(open_server, llm):
    server = await open_server(asks(llm) | {"quotas.user.messages": 50, "quotas.user.memories": 5})
    await server.ask("POST", CHAT, hello(user="noa", conversation_id="talk"))  # the project is known
    await server.parts.memory.database.aclose()
    chat = hello(user="mira", conversation_id="talk", memoryEnabled=True)
    answer = await server.ask("POST", CHAT, chat)
    assert (answer.status, answer.headers["x-mnemoir-degraded"]) == (200, "storage, memory")
    refused = await server.ask("POST", CHAT, chat | {"history": "server"})
    assert error_of(refused) == (503, "storage_unavailable")


async def test_the_users_of_a_tenant_share_its_quota(open_server):
    server = await open_server({"quotas.tenant.memories": 3})
    await server.post(MEMORIES, fact("one", "mira"))
    await server.post(MEMORIES, fact("one", "noa"))
    both = [server.ask("POST", MEMORIES, fact(f"more {n}", "eve")) for n in range(5)]
    assert sorted(answer.status for answer in await asyncio.gather(*both)) == [200, 403, 403, 403, 403]


async def test_an_import_that_does_not_fit_stores_nothing(open_server):
    server = await open_server({"quotas.user.memories": 2, "quotas.user.messages": 5})
    lines = [
        {"id": f"mem_{n:032x}", "memory": f"fact {n}", "user_id": "mira", "created_at": "2026-01-01T00:00:00Z"}
        for n in range(3)
    ]
    sent = b"\n".join(map(orjson.dumps, lines))
    assert (await server.ask("POST", "/api/import", sent)).status == 403
    assert (await server.get("/api/memories?user_id=mira"))["results"] == []
    assert (await server.ask("POST", TALKS, talk("first", 4))).status == 201
    exported = await server.ask("GET", f"{TALKS}/export?user_id=mira")
    refused = await server.ask("POST", f"{TALKS}/import?user_id=noa&on_conflict=rename", exported.body * 2)
    assert refusal(refused)[:4] == (403, "quota_exceeded", "messages", 0)
    assert (await server.get(f"{TALKS}?user_id=noa"))["results"] == []


async def test_messages_and_files_are_refused_at_their_quota(open_server):
    server = await open_server({"quotas.user.messages": 4, "quotas.user.attachment_bytes": 4000})
    assert (await server.ask("POST", TALKS, talk("first", 3))).status == 201
    refused = await server.ask("POST", TALKS, talk("second", 2))
    assert refusal(refused) == (403, "quota_exceeded", "messages", 3, 4, True)
    assert (await server.ask("GET", f"{TALKS}/second?user_id=mira")).status == 404
    part = {"type": "image_url", "image_url": {"url": PICTURE}}
    seen = {"messages": [{"role": "user", "content": [{"type": "text", "text": "see"}, part]}]}
    assert (await server.ask("POST", f"{TALKS}/first/messages?user_id=mira", seen)).status == 201
    refused = await server.ask("POST", f"{TALKS}/first/messages?user_id=mira", seen)
    assert refusal(refused)[:3] == (403, "quota_exceeded", "attachment_bytes")


async def test_a_chat_beyond_the_quotas_is_answered_and_says_what_it_leaves_out(open_server, llm):
    quotas = {"quotas.user.memories": 1, "quotas.user.messages": 2}
    server = await open_server(asks(llm) | quotas)
    llm.default = Answer(text="yes")
    chat = hello(user="mira", conversation_id="talk", memoryEnabled=True)
    first = await server.ask("POST", CHAT, chat)
    await server.post(MEMORIES, fact("likes tea"))
    jobs = len(await waiting(server))
    second = await server.ask("POST", CHAT, hello(user="mira", conversation_id="other", memoryEnabled=True))
    assert [answer.status for answer in (first, second)] == [200, 200]
    assert "x-mnemoir-degraded" not in first.headers
    assert second.headers["x-mnemoir-degraded"] == "quota-memories, quota-messages"
    assert (await server.ask("GET", f"{TALKS}/other?user_id=mira")).status == 404
    assert len(await waiting(server)) <= jobs
    stored = hello(user="mira", conversation_id="talk", history="server")
    assert error_of(await server.ask("POST", CHAT, stored)) == (403, "quota_exceeded")


@pytest.mark.parametrize("what", ["messages", "conversations", "memories", "memories in files"])
async def test_of_forty_adds_at_once_as_many_are_stored_as_the_quota_leaves(open_server, tmp_path, what):
    files = {"storage.backend": "file", "storage.workspace_root": str(tmp_path / "work")}
    quotas = {"quotas.user.messages": 17, "quotas.user.memories": 17}
    server = await open_server(quotas | (files if "files" in what else {}))
    kind, (counted, ended) = ("memories" if "memories" in what else "messages"), ([0], [False])

    async def count_again_and_again() -> None:
        while not ended[0]:
            await server.parts.chats.quotas.stored.by_user(kind, "default", fresh=True)
            counted[0] += 1

    def add(number: int):
        if kind == "memories":
            return server.ask("POST", MEMORIES, fact(f"fact {number}"))
        if what == "conversations":
            return server.ask("POST", TALKS, talk(f"talk {number}", 1))
        said = {"messages": [{"role": "user", "content": f"line {number}"}]}
        return server.ask("POST", f"{TALKS}/first/messages?user_id=mira", said)

    if what == "messages":
        await server.ask("POST", TALKS, talk("first", 0))
    counting = asyncio.create_task(count_again_and_again())
    answers = [await one for one in [asyncio.create_task(add(number)) for number in range(40)]]
    ended[0] = True
    await counting
    assert counted[0] > 1
    assert sum(answer.status in (200, 201) for answer in answers) == 17
    assert {error_of(one) for one in answers if one.status >= 400} == {(403, "quota_exceeded")}
    assert (await server.parts.chats.quotas.stored.by_user(kind, "default", fresh=True))["mira"] == 17


async def test_chats_at_once_keep_no_message_beyond_the_quota(open_server, llm):
    server = await open_server(asks(llm) | {"quotas.user.messages": 5})
    llm.default = Answer(text="yes")
    told = [server.ask("POST", CHAT, hello(user="mira", conversation_id=f"talk {n}")) for n in range(9)]
    answers = await asyncio.gather(*told)
    assert [answer.status for answer in answers] == [200] * 9
    assert sum("x-mnemoir-degraded" not in answer.headers for answer in answers) == 2
    kept = (await server.get(f"{TALKS}?user_id=mira"))["results"]
    assert [one["message_count"] for one in kept] == [2, 2]


async def test_a_chat_that_was_not_kept_leaves_its_room_to_the_next(open_server, llm):
    server = await open_server(asks(llm) | {"quotas.user.messages": 2})
    llm.default = Answer(text="yes")
    assert (await server.ask("POST", CHAT, hello(user="mira"))).status == 200
    assert (await server.ask("POST", CHAT, hello(user="mira", store=False, conversation_id="talk"))).status == 200
    kept = await server.ask("POST", CHAT, hello(user="mira", conversation_id="talk"))
    assert (kept.status, "x-mnemoir-degraded" in kept.headers) == (200, False)


async def waiting(server: Server) -> list:
    return await server.parts.upkeep.background.waiting('["default", "default", "mira"]', limit=100)


@pytest.mark.parametrize(("what", "whose"), [("tokens_day", "user"), ("tokens_month", "tenant")])
async def test_a_budget_of_tokens_ends_chats_and_shows_in_their_headers(open_server, llm, what, whose):
    server = await open_server(asks(llm) | {f"quotas.{whose}.{what}": 100})
    llm.default = Answer(text="yes", usage=(50, 10))
    told = [await server.ask("POST", CHAT, hello(user="mira")) for _ in range(3)]
    assert [answer.status for answer in told] == [200, 200, 403]
    assert [answer.headers["x-ratelimit-remaining"] for answer in told] == ["100", "40", "0"]
    assert {answer.headers["x-ratelimit-limit"] for answer in told} == {"100"}
    assert 0 < int(told[2].headers["x-ratelimit-reset"]) <= 31 * 24 * 3600
    assert refusal(told[2]) == (403, "quota_exceeded", what, 120, 100, False)
    assert (await server.ask("POST", CHAT, hello(user="noa"))).status == (200 if whose == "user" else 403)
    inferring = {**fact("likes tea"), "infer": True}
    assert error_of(await server.ask("POST", MEMORIES, inferring)) == (403, "quota_exceeded")
    await server.post(MEMORIES, fact("likes tea"))


async def test_more_chats_at_once_than_the_quota_have_to_wait(listen, llm, http):
    server = await listen(asks(llm) | {"quotas.user.concurrent_chats": 1})
    llm.default = Answer(pieces=["one ", "two"], stall_after=1)
    chat = hello(stream=True, user="mira")
    async with http.post(server.url + CHAT, json=chat) as first:
        assert first.status == 200
        async with http.post(server.url + CHAT, json=chat) as second:
            assert (second.status, (await second.json())["bucket"]) == (429, "concurrent_chats")
        told = await server.get("/api/usage")
        chats = [one for one in told["results"] if one["what"] == "concurrent_chats" and one["user"] is None]
        assert [one["used"] for one in chats] == [1]
        llm.release()
        await first.read()
    llm.default = Answer(text="yes")
    async with http.post(server.url + CHAT, json=chat) as third:
        assert third.status == 200


async def test_a_tenant_and_a_key_have_quotas_of_their_own(open_server):
    server = await open_server(
        {"quotas.user.memories": 1}, api_keys=["admin-of-all-and-operator"], admin_api_key="admin-of-all-and-operator"
    )
    boss = {"x_api_key": "admin-of-all-and-operator"}
    body = {"role": "write", "user": "mira", "limits": {"memories": 2}}
    made = orjson.loads((await server.ask("POST", "/api/keys", body, **boss)).body)
    mira = {"x_api_key": made["key"]}
    told = [(await server.ask("POST", MEMORIES, fact(f"fact {n}"), **mira)).status for n in range(3)]
    assert told == [200, 200, 403]
    rotated = orjson.loads((await server.ask("POST", f"/api/keys/{made['id']}/rotate", {}, **boss)).body)
    assert refusal(await server.ask("POST", MEMORIES, fact("more"), x_api_key=rotated["key"]))[3:5] == (2, 2)
    listed = await server.ask("PUT", "/api/tenants", {"name": "default", "limits": {"memories": 2}}, **boss)
    assert orjson.loads(listed.body)["results"][0]["limits"] == {"memories": 2}
    refused = await server.ask("POST", MEMORIES, fact("one", "noa"), **boss)
    assert (refusal(refused)[3:5], "Tenant default" in refused.body.decode()) == ((2, 2), True)
    await server.ask("PUT", "/api/tenants", {"name": "default", "limits": {}}, **boss)
    await server.post(MEMORIES, fact("one", "noa"), **boss)
    wrong = await server.ask("PUT", "/api/tenants", {"name": "default", "limits": {"wishes": 3}}, **boss)
    assert error_of(wrong) == (422, "validation_error")


async def events(server, ids, done: int, headers) -> list[tuple[str, bool]]:
    """State of each add that was deferred, and whether it waits for a quota, once so many succeeded and none runs."""
    async with asyncio.timeout(60):
        while True:
            told = [await server.get(f"/api/events/{id}", **headers) for id in ids]
            found = [(one["status"], " of " in (one["error"] or "")) for one in told]
            if found.count(("SUCCEEDED", False)) >= done and found.count(("PENDING", True)) + done >= len(ids):
                return found
            await asyncio.sleep(0.01)


async def test_deferred_adds_keep_to_the_quotas_of_their_key(open_server):
    server = await open_server()
    make = server.parts.access.api_keys.create
    mira = {"x_api_key": make(role="write", user="mira", limits={"memories": 2}, by="test")[1]}
    deferring = (server.ask("POST", MEMORIES, fact(f"fact {n}") | {"async_mode": True}, **mira) for n in range(6))
    answers = await asyncio.gather(*deferring)
    deferred = [orjson.loads(answer.body)["event_id"] for answer in answers if answer.status == 200]
    assert all(refusal(answer)[3:5] == (2, 2) for answer in answers if answer.status != 200)  # two were done by then
    found = await events(server, deferred, 2, mira)
    assert sorted(found) == [("PENDING", True)] * (len(deferred) - 2) + [("SUCCEEDED", False)] * 2
    assert len((await server.get("/api/memories?user_id=mira", **mira))["results"]) == 2


async def test_deferred_adds_wait_once_the_budget_of_tokens_is_used_up(open_server, llm):
    server = await open_server(asks(llm, **{"quotas.user.tokens_day": 1}))
    llm.default = Answer(text='{"facts": []}', silent=True)
    body = {"messages": [{"role": "user", "content": "I play the cello"}], "user_id": "mira", "async_mode": True}
    deferred = [(await server.post(MEMORIES, body))["event_id"] for _ in range(6)]
    async with asyncio.timeout(60):
        while len(llm.requests) < 4:  # noqa: ASYNC110 - as many as run at once
            await asyncio.sleep(0.01)
    llm.release()
    found = await events(server, deferred, 4, {})
    assert (sorted(found), len(llm.requests)) == ([("PENDING", True)] * 2 + [("SUCCEEDED", False)] * 4, 4)
