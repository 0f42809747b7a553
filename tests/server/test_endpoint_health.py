"""`/api/status` of a server with a config tree: each endpoint that its workflows name, and what to do about it."""

import asyncio
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from tests.far_server import far_server
from tests.scripted_llm import closed_port_url, failure
from tests.server.described import Description
from tests.server.served_tree import KEY, answering, asking, calling, endpoint, served
from tests.server.server_kit import Server, hello

CHAT = "/v1/chat/completions"
MODELS = "/v1/models"


async def endpoints(server, *, check: bool = False) -> dict:
    """Endpoints by name, in the order they are told; with `check` their servers are asked now."""
    status = await (server.post("/api/status/check", {}) if check else server.get("/api/status"))
    return {one["name"]: one for one in status["endpoints"]}


async def settled(server) -> dict:
    """The same once each state is known: on a busy machine some may be told before that."""
    found = await endpoints(server)
    while any(one["state"] is None for one in found.values()):
        found = await endpoints(server)
    return found


async def checked(server: Server, name: str, state: str) -> dict:
    found: dict
    """The endpoint of that name, once a check finds that state."""
    while (found := (await endpoints(server, check=True))[name])["state"] != state:
        pass
    return found


@dataclass(kw_only=True)
class Far:
    """A server that answers GET as `answers` says by path, else 404, while it is `open`."""

    url: str = ""
    answers: dict[str, web.Response] = field(default_factory=dict)
    open: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.Response:
        await self.open.wait()
        return self.answers.get(request.path, web.Response(status=404))


@pytest.fixture
async def far():
    """It is open."""
    far = Far()
    far.open.set()
    async with far_server(far.answer) as far.url:
        yield far
        far.open.set()


async def test_without_a_tree_there_are_none(server):
    assert (await server.get("/api/status"))["endpoints"] == []


async def test_each_that_workflows_name_is_told_once_without_its_secrets(open_server, tmp_path, llm):
    host = urlsplit(llm.url).netloc
    url = f"http://ann:canary-of-ann@{host}/canary-path?key=canary-of-query"
    files = {
        "Endpoints/Main.json": endpoint(url),
        "Endpoints/Unused.json": endpoint(llm.url),
        "Workflows/Ann/Other.json": [asking("main"), answering("Main.json")],
    }
    server = await open_server(served(tmp_path, llm.url, files=files))
    answer = await server.ask("GET", "/api/status")
    assert b"canary" not in answer.body
    assert Description(await server.get("/openapi.json")).misfits("get", "/api/status", answer) == []
    (main,) = (await settled(server)).values()
    told = {name: main[name] for name in ("name", "path", "named_in", "kind", "address", "model", "state", "problem")}
    assert told == {
        "name": "Main",
        "path": "Endpoints/Main.json",
        "named_in": ["Workflows/Ann/Chat.json", "Workflows/Ann/Other.json"],
        "kind": "openai-chat",
        "address": f"http://{host}",
        "model": "far",
        "state": "ok",
        "problem": "",
    }


async def test_fifty_of_one_server_ask_it_once_and_cost_no_token(open_server, tmp_path, llm):
    names = [f"E{number:02}" for number in range(50)]
    files = {f"Endpoints/{name}.json": endpoint(llm.url, modelNameToSendToAPI=name) for name in names}
    nodes = [*map(asking, names), answering("E00")]
    server = await open_server(served(tmp_path, llm.url, *nodes, files=files))
    for _ in range(3):
        assert list(await settled(server)) == names
    assert [(asked.path, asked.headers["Authorization"]) for asked in llm.requests] == [(MODELS, f"Bearer {KEY}")]


async def test_a_call_tells_more_than_a_look_and_spares_one(open_server, tmp_path, llm):
    server = await open_server(served(tmp_path, llm.url))
    llm.queue(failure(401, "The key is wrong."))
    await server.ask("POST", CHAT, hello())
    main = (await endpoints(server))["Main"]
    assert (main["state"], main["to_do"]) == ("fail", "Correct apiKey in Endpoints/Main.json.")
    assert "The key is wrong." in main["problem"]
    assert main["failed_at"] == main["told_at"]
    await checked(server, "Main", "fail")  # its list of models needs no key
    await server.post(CHAT, hello())
    main = (await endpoints(server))["Main"]
    assert (main["state"], main["problem"], main["told_at"]) == ("ok", "", main["answered_at"])
    assert [asked.path for asked in llm.requests] == [CHAT, MODELS, CHAT]


async def test_advice_to_wait_is_given_only_where_waiting_helps(open_server, tmp_path, llm):
    server = await open_server(served(tmp_path, llm.url))
    advice = {"rate_limit_exceeded": "Wait, or set maxConcurrentRequests", "insufficient_quota": "Add credit"}
    for code, begins in advice.items():
        llm.queue(failure(429, code=code))
        await server.ask("POST", CHAT, hello())
        assert (await endpoints(server))["Main"]["to_do"].startswith(begins)


async def test_a_server_that_went_away_and_came_back_is_noticed_by_a_check(open_server, tmp_path, llm):
    server = await open_server(served(tmp_path, llm.url))
    await server.post(CHAT, hello())
    port = urlsplit(llm.url).port
    await llm.stop()
    gone = await checked(server, "Main", "fail")
    assert gone["to_do"] == "Start its server, or correct endpoint in Endpoints/Main.json."
    assert f"127.0.0.1:{port} could not be reached" in gone["problem"]
    await server.ask("POST", CHAT, hello())
    await llm.start(port)
    back = await checked(server, "Main", "warn")
    assert back["to_do"] == "Its server answers now; the next call tells the rest."
    await server.post(CHAT, hello())
    assert (await endpoints(server))["Main"]["state"] == "ok"


async def test_what_cannot_be_asked_is_told_first_with_the_next_step(open_server, tmp_path, llm):
    files = {
        "Endpoints/Broken.json": [],
        "Endpoints/Odd.json": endpoint(llm.url, kind="Nothing"),
        "Endpoints/NoType.json": endpoint(llm.url, kind="Absent"),
        "Endpoints/NoAddress.json": endpoint("sk-canary-31415926535"),
        "Endpoints/Dead.json": endpoint(closed_port_url()),
        "ApiTypes/Nothing.json": {"type": "nothing"},
    }
    names = ["Nowhere", "Broken", "Odd", "NoType", "NoAddress", "Dead"]
    server = await open_server(served(tmp_path, llm.url, *map(asking, names), answering(), files=files))
    answer = await server.ask("GET", "/api/status")
    assert b"canary" not in answer.body
    found = await settled(server)
    assert list(found) == [*sorted(names, key=str.lower), "Main"]
    assert {name: one["state"] for name, one in found.items()} == {**dict.fromkeys(names, "fail"), "Main": "ok"}
    assert all(one["problem"] and one["to_do"] for name, one in found.items() if name != "Main")
    assert (found["Nowhere"]["path"], found["Nowhere"]["to_do"]) == (None, "Create the file, or correct the name.")
    assert found["NoAddress"]["address"] is None


async def test_many_with_problems_are_one_remark(open_server, tmp_path, llm):
    names = [f"E{number:02}" for number in range(50)]
    files = {f"Endpoints/{name}.json": endpoint(closed_port_url()) for name in names}
    server = await open_server(served(tmp_path, llm.url, *map(asking, names), answering(), files=files))
    await settled(server)
    remarks = [one for one in (await server.get("/api/status"))["remarks"] if one["about"] == "endpoints"]
    assert [one["found"] for one in remarks] == [
        "50 of 51 endpoints have problems: E00, E01, E02, E03, E04 and 45 more."
    ]


async def test_backups_inner_workflows_and_names_made_while_running_count(open_server, tmp_path, llm):
    files = {
        "Endpoints/Main.json": endpoint(llm.url, backupEndpointName="Spare"),
        "Endpoints/Spare.json": endpoint(llm.url, backupEndpointName="Main"),
        "Endpoints/Inner.json": endpoint(llm.url),
        "Endpoints/Late.json": endpoint(llm.url),
        "Endpoints/Memory.json": endpoint(llm.url),
        "Workflows/elsewhere/Inner.json": [asking("Inner")],
        "Workflows/Ann/Memories.json": {"endpointName": "Memory", "systemPrompt": "[TextChunk]"},
        "Workflows/Ann/Chat.json": {
            "which": "Late",
            "nodes": [asking("{which}"), calling("Inner", workflowUserFolderOverride="elsewhere"), answering()],
        },
    }
    user = {"discussionIdMemoryFileWorkflowSettings": "Memories"}
    server = await open_server(served(tmp_path, llm.url, files=files, user=user))
    assert sorted(await endpoints(server)) == ["Inner", "Main", "Memory", "Spare"]
    await server.post(CHAT, hello())
    await checked(server, "Late", "ok")
    found = await endpoints(server)
    assert sorted(found) == ["Inner", "Late", "Main", "Memory", "Spare"]
    assert (found["Late"]["named_in"], found["Spare"]["named_in"]) == ([], [])
    assert found["Late"]["answered_at"]


async def test_a_file_that_was_edited_counts_from_the_next_check_on(open_server, tmp_path, llm):
    server = await open_server(served(tmp_path, closed_port_url()))
    assert (await settled(server))["Main"]["state"] == "fail"
    served(tmp_path, llm.url)
    await checked(server, "Main", "ok")


async def test_each_user_who_is_served_has_their_own_and_nobody_else(open_server, tmp_path, llm):
    def user(folder: str) -> dict:
        return {"customWorkflowOverride": True, "customWorkflow": "Chat", "endpointConfigsSubDirectory": folder}

    files = {
        "Users/ann.json": user("ann"),
        "Users/bea.json": user("bea"),
        "Users/cem.json": user("cem"),
        **{f"Endpoints/{name}/Main.json": endpoint(llm.url) for name in ("ann", "bea", "cem")},
        **{f"Workflows/{name}/Chat.json": [answering()] for name in ("Bea", "Cem")},
    }
    settings = served(tmp_path, llm.url, files=files) | {"workflows.users": ["Ann", "Bea"]}
    server = await open_server(settings)
    found = (await server.get("/api/status"))["endpoints"]
    assert [one["path"] for one in found] == ["Endpoints/ann/Main.json", "Endpoints/bea/Main.json"]


OLLAMA_LIST = b'{"models": [{"name": "other:latest"}]}'


@pytest.mark.parametrize(
    ("kind", "path", "answer", "state", "problem"),
    [
        ("OpenAiChat", MODELS, {"status": 404}, "ok", ""),
        ("OpenAiText", MODELS, {"status": 401}, "fail", "refuses the key"),
        ("OpenAiChat", MODELS, {"status": 503}, "warn", "answers 503"),
        ("OpenAiChat", MODELS, {"status": 307, "headers": {"Location": "/x"}}, "warn", "redirect (307)"),
        ("Kobold", "/api/v1/model", {"body": b'{"result": "far"}'}, "ok", ""),
        ("Kobold", "/api/v1/model", {"status": 404}, "warn", "as this protocol does"),
        ("OllamaChat", "/api/tags", {"body": OLLAMA_LIST.replace(b"other", b"far")}, "ok", ""),
        ("OllamaText", "/api/tags", {"body": OLLAMA_LIST}, "fail", "has no model far"),
        ("OllamaChat", "/api/tags", {"body": b"<html>"}, "warn", "as this protocol does"),
        ("OllamaChat", "/api/tags", {"body": b" " * 5_000_000}, "warn", "as this protocol does"),
    ],
)
async def test_each_protocol_is_asked_in_its_words(open_server, tmp_path, far, kind, path, answer, state, problem):
    far.answers[path] = web.Response(**answer)
    server = await open_server(served(tmp_path, far.url, kind=kind))
    main = (await settled(server))["Main"]
    assert main["state"] == state
    assert problem in main["problem"]
    assert bool(main["to_do"]) == bool(problem)


async def test_a_server_that_says_nothing_keeps_the_others_from_nobody(open_server, tmp_path, far, llm):
    files = {"Endpoints/Slow.json": endpoint(far.url)}
    server = await open_server(served(tmp_path, llm.url, asking("Slow"), answering(), files=files))
    far.open.clear()
    while (found := await endpoints(server))["Main"]["state"] != "ok":
        pass
    assert found["Slow"]["state"] != "ok"
    far.open.set()
    await checked(server, "Slow", "ok")
