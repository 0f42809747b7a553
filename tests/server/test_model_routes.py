"""Connecting a model while the server runs: in force at once, saved with its key apart, for whoever may."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, failure, html_page
from tests.server.conftest import OpenServer
from tests.server.served_tree import served
from tests.server.server_kit import JSON, Server, error_of, hello, succeeded
from tests.serving import free_port

OWN = {"origin": "http://localhost", "content_type": "application/json"}
KEY = "sk-canary-of-the-page-2718281828"
ADMIN = "an-admin-key-of-the-tests"
NO_MODEL = {"llm.provider": "auto", "llm.ollama_url": closed_port_url(), "llm.tries": 1}


def at(llm: ScriptedLLM, **more: Any) -> JSON:
    """A model at the scripted server."""
    return {"provider": "openai-chat", "url": llm.openai_url, "model": "far-model", "api_key": KEY} | more


@pytest.fixture
async def server(open_server: OpenServer) -> Server:
    """A keyless server on this machine that found no model."""
    return await open_server(NO_MODEL)


async def words_of(server: Server) -> str:
    """What the server's model says to a chat."""
    answer = await server.post("/v1/chat/completions", hello())
    return str(answer["choices"][0]["message"]["content"])


async def save(server: Server, model: JSON) -> JSON:
    saved: JSON = succeeded(await server.ask("PUT", "/api/model", model, **OWN))
    return saved


async def test_a_saved_model_answers_the_next_chat_and_is_told_everywhere(server: Server, llm: ScriptedLLM) -> None:
    assert "No language model is connected" in await words_of(server)
    llm.default = Answer(text="Hello from far away.")
    saved = await save(server, at(llm))
    assert saved["setup"]["in_use"] == {
        "provider": "openai-chat",
        "model": "far-model",
        "url": llm.openai_url,
        "has_key": True,
    }
    assert await words_of(server) == "Hello from far away."
    assert (await server.get("/health"))["llm"] == "configured"
    assert "far-model" in [model["id"] for model in (await server.get("/v1/models"))["data"]]
    assert "far-model:latest" in [model["name"] for model in (await server.get("/api/tags"))["models"]]
    status = await server.get("/api/status")
    assert (status["model"]["name"], status["model"]["connected"]["state"]) == ("far-model", "ok")
    assert [remark for remark in status["remarks"] if remark["about"] == "model"] == []
    assert llm.requests[-1].headers["Authorization"] == f"Bearer {KEY}"


async def test_a_saved_model_is_in_use_after_a_restart(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(NO_MODEL)
    await save(server, at(llm))
    await server.parts.aclose()
    again = await open_server(NO_MODEL)
    assert (again.parts.model.name, await words_of(again)) == ("far-model", "Understood.")
    assert llm.requests[-1].headers["Authorization"] == f"Bearer {KEY}"


async def test_the_key_lies_apart_for_its_owner_alone_and_goes_with_the_address(
    server: Server, llm: ScriptedLLM
) -> None:
    await save(server, at(llm))
    folder = server.parts.settings.storage.data_dir / "settings"
    assert KEY not in (folder / "model.json").read_text()
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}
    kept = await save(server, at(llm, model="other", api_key=None))
    assert kept["setup"]["saved"]["has_key"] is True  # the same address keeps its key
    moved = await save(server, at(llm, url=f"{closed_port_url()}/v1", api_key=None))
    assert moved["setup"]["saved"]["has_key"] is False
    assert [path.name for path in folder.iterdir()] == ["model.json"]
    back = await save(server, at(llm, api_key=None))
    assert back["setup"]["saved"]["has_key"] is False


async def test_a_model_that_is_forgotten_leaves_the_settings_their_say(server: Server, llm: ScriptedLLM) -> None:
    await save(server, at(llm))
    answer = succeeded(await server.ask("DELETE", "/api/model", **OWN))
    assert (answer["setup"]["saved"], answer["setup"]["in_use"]["provider"]) == (None, "offline")
    assert "No language model is connected" in await words_of(server)
    assert list((server.parts.settings.storage.data_dir / "settings").iterdir()) == []


async def test_a_chat_under_way_ends_on_the_model_it_began_with(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(NO_MODEL)
    async with ScriptedLLM() as other:
        other.default = Answer(text="I am the other one.")
        llm.reply("I was here first.", silent=True)
        await save(server, at(llm))
        chat = asyncio.create_task(words_of(server))
        await llm.arrived.wait()
        await save(server, at(other))
        assert await words_of(server) == "I am the other one."
        llm.release()
        assert await chat == "I was here first."


async def test_with_a_tree_the_model_is_that_of_the_memory_and_chats_ask_the_endpoints(
    open_server: OpenServer, llm: ScriptedLLM, tmp_path: Path
) -> None:
    server = await open_server(NO_MODEL | served(tmp_path, llm.url))
    async with ScriptedLLM() as other:
        assert (await save(server, at(other)))["setup"]["serves_tree"] is True
        await words_of(server)
        assert (len(llm.requests), other.requests) == (1, [])
        other.reply_json({"facts": []})
        said = {"messages": [{"role": "user", "content": "I live in Graz."}], "user_id": "mira"}
        await server.ask("POST", "/api/memories", said)
        assert (len(llm.requests), other.requests[0].body["model"]) == (1, "far-model")


# --- who may


WRITES = [("PUT", "/api/model"), ("DELETE", "/api/model"), ("POST", "/api/model/test"), ("POST", "/api/model/list")]


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "application/json"},
        {"origin": "http://localhost", "content_type": "text/plain"},
        {"origin": "http://localhost"},
        {"origin": "http://localhost:5173", "content_type": "application/json"},
        {"origin": "null", "content_type": "application/json"},
        {"origin": "http://evil.example", "content_type": "application/json"},
    ],
    ids=["no origin", "a form", "no type", "another port", "a frame", "another site"],
)
async def test_only_a_page_of_this_server_changes_the_model(
    server: Server, llm: ScriptedLLM, method: str, path: str, headers: dict[str, str]
) -> None:
    assert (await server.ask(method, path, None if method == "DELETE" else at(llm), **headers)).status == 403
    assert (llm.requests, await words_of(server) != "Understood.") == ([], True)


@pytest.mark.parametrize(("method", "path"), WRITES)
async def test_the_admin_key_changes_the_model_from_anywhere_and_another_key_does_not(
    open_server: OpenServer, llm: ScriptedLLM, method: str, path: str
) -> None:
    keys = ["an-ordinary-key-of-the-tests", ADMIN]
    server = await open_server(NO_MODEL, host="0.0.0.0", api_keys=keys, admin_api_key=ADMIN)
    body = None if method == "DELETE" else at(llm)
    ordinary = await server.ask(method, path, body, authorization=f"Bearer {keys[0]}", **OWN)
    assert error_of(ordinary) == (403, "admin_key_needed")
    assert (await server.ask(method, path, body, authorization=f"Bearer {ADMIN}")).status == 200


@pytest.mark.parametrize("path", ["/api/model", "/api/model/embedding"])
async def test_an_operator_looks_at_what_it_may_change(open_server: OpenServer, path: str) -> None:
    server = await open_server(NO_MODEL)
    operator = {"x_api_key": server.parts.access.api_keys.create(role="operator", by="test")[1]}
    assert (await server.get(path, **operator))["locked"] == ""
    assert (await server.ask("DELETE", path, **operator)).status == 200


async def test_where_anybody_may_call_nobody_changes_the_model(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(NO_MODEL, host="0.0.0.0", allow_unauthenticated=True)
    assert error_of(await server.ask("PUT", "/api/model", at(llm), **OWN)) == (403, "admin_key_needed")
    assert "--allow-unauthenticated" in (await server.get("/api/model"))["locked"]


async def test_beyond_this_machine_it_takes_the_admin_key(open_server: OpenServer, llm: ScriptedLLM) -> None:
    key = "an-ordinary-key-of-the-tests"
    server = await open_server(NO_MODEL, host="0.0.0.0", api_keys=[key])
    refused = await server.ask("PUT", "/api/model", at(llm), authorization=f"Bearer {key}", **OWN)
    assert error_of(refused) == (403, "admin_key_needed")
    assert "ADMIN_API_KEY" in (await server.get("/api/model", authorization=f"Bearer {key}"))["locked"]


# --- addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/v1",
        "http://[fe80::1]:8080/v1",
        "http://[::ffff:169.254.169.254]/v1",
        "http://[fd00:ec2::254]/v1",
        "http://2852039166/v1",
        "http://0xa9fea9fe/v1",
        "http://user:secret@127.0.0.1/v1",
        "file:///etc/passwd",
    ],
)
@pytest.mark.parametrize(("method", "path"), [WRITES[0], *WRITES[2:]])
async def test_addresses_that_no_model_has_are_refused(server: Server, method: str, path: str, url: str) -> None:
    body = {"provider": "openai-chat", "url": url, "model": "m"}
    answer = await server.ask(method, path, body, **OWN)
    assert error_of(answer) == (400, "address_refused")
    assert b"secret" not in answer.body


async def test_a_name_that_comes_to_lead_to_such_an_address_is_not_called(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, real = asyncio.get_running_loop(), asyncio.get_running_loop().getaddrinfo
    answers = iter(["127.0.0.1"])  # the check sees this one, the call another

    async def resolve(host: str, port: int, **more: Any) -> Any:
        return await real(next(answers, "169.254.169.254") if host == "model.example" else host, port, **more)

    monkeypatch.setattr(loop, "getaddrinfo", resolve)
    body = {"provider": "openai-chat", "url": "http://model.example/v1", "model": "m"}
    tested = succeeded(await server.ask("POST", "/api/model/test", body, **OWN))
    assert (tested["ok"], tested["problem"]) == (False, "it cannot be reached")


# --- test and list


async def test_a_test_tells_how_long_the_answer_took_and_changes_nothing(server: Server, llm: ScriptedLLM) -> None:
    tested = succeeded(await server.ask("POST", "/api/model/test", at(llm), **OWN))
    assert (tested["ok"], tested["model"], tested["problem"]) == (True, "far-model", "")
    assert tested["latency_ms"] > 0
    assert "No language model is connected" in await words_of(server)
    in_use = succeeded(await server.ask("POST", "/api/model/test", None, **OWN))
    assert (in_use["ok"], in_use["problem"]) == (False, "no language model is connected")


@pytest.mark.parametrize(
    ("answer", "status", "problem"),
    [
        (failure(401, "canary of the body"), 401, "it refused the key (401)"),
        (failure(404, "canary of the body"), 404, "model or path not found (404)"),
        (failure(429, "canary of the body"), 429, "it refuses requests for now (429)"),
        (failure(500, "canary of the body"), 500, "it answered 500"),
        (html_page(), None, "it answered, but not as a model server does"),
        (Answer(body=b'{"secret": "canary of the body"}'), None, "it answered, but not as a model server does"),
        (Answer(body=b'{"error": "canary of the body"}'), None, "it answered, but with an error or half an answer"),
        (
            Answer(body=b'data: {"choices":[{"delta":{"content":"canary"}}]}'),
            None,
            "it answered, but with an error or half an answer",
        ),
    ],
    ids=["key", "name", "busy", "broken", "page", "json", "error", "half"],
)
async def test_a_failed_test_tells_its_status_and_nothing_of_the_body(
    server: Server, llm: ScriptedLLM, answer: Answer, status: int | None, problem: str
) -> None:
    llm.queue(answer)
    raw = await server.ask("POST", "/api/model/test", at(llm), **OWN)
    tested = succeeded(raw)
    assert (tested["ok"], tested["status"], tested["problem"]) == (False, status, problem)
    assert b"canary" not in raw.body
    assert len(llm.requests) == 1  # no second try


async def test_the_models_of_an_address_are_listed(open_server: OpenServer, llm: ScriptedLLM) -> None:
    llm.models = ["small", "large", "nomic-embed-text"]
    server = await open_server(NO_MODEL | {"llm.ollama_url": llm.url})
    openai = succeeded(await server.ask("POST", "/api/model/list", at(llm), **OWN))
    assert openai == {"models": ["small", "large", "nomic-embed-text"], "problem": "", "to_do": ""}
    ollama = {"provider": "ollama", "url": llm.url}
    assert succeeded(await server.ask("POST", "/api/model/list", ollama, **OWN))["models"] == ["small", "large"]
    nobody = {"provider": "openai-chat", "url": f"{closed_port_url()}/v1"}
    assert succeeded(await server.ask("POST", "/api/model/list", nobody, **OWN))["problem"] == "it cannot be reached"


# --- what is set elsewhere


async def test_what_the_settings_say_is_shown_and_comes_first(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server(NO_MODEL | {"llm.model": "their-model"})
    setup = (await server.get("/api/model"))["setup"]
    named = {fixed["key"]: (fixed["value"], fixed["set_by"]) for fixed in setup["fixed"]}
    assert named["llm.model"] == ("their-model", "command line")
    refused = await server.ask("PUT", "/api/model", at(llm), **OWN)
    assert error_of(refused) == (400, "set_elsewhere")
    assert "command line" in json.loads(refused.body)["error"]
    await save(server, at(llm, model="their-model"))
    assert await words_of(server) == "Understood."


async def test_a_protocol_of_the_settings_leaves_what_was_saved_aside(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server(NO_MODEL)
    await save(server, at(llm))
    await server.parts.aclose()
    again = await open_server(NO_MODEL | {"llm.provider": "offline"})
    assert (await again.get("/api/model"))["setup"]["saved"]["in_force"] is False
    assert again.parts.model.provider == "offline"


async def test_a_key_of_the_settings_goes_to_its_own_address_only(open_server: OpenServer, llm: ScriptedLLM) -> None:
    theirs = "sk-canary-of-the-settings-161803"
    server = await open_server(NO_MODEL | {"llm.api_key": theirs})
    await save(server, at(llm, api_key=None))
    await words_of(server)
    assert "Authorization" not in llm.requests[-1].headers
    openai = at(llm, provider="openai-responses", url="https://api.openai.com/v1", api_key="sk-another-key")
    assert error_of(await server.ask("PUT", "/api/model", openai, **OWN)) == (400, "set_elsewhere")


# --- Ollama later


async def test_an_ollama_that_starts_later_is_found_and_taken_when_somebody_says_so(
    open_server: OpenServer,
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = await open_server({"llm.provider": "auto", "llm.ollama_url": url})
    later = ScriptedLLM()
    later.models = ["llama3.2:latest"]
    await later.start(port)
    try:
        found = await server.get("/api/model/found")
        assert found == {"looked": True, "url": url, "models": ["llama3.2:latest"]}
        assert server.parts.model.provider == "offline"  # nothing is taken by itself
        looks = len(later.requests)
        await server.get("/api/model/found")
        assert len(later.requests) == looks  # ten seconds have not passed
        await save(server, {"provider": "ollama", "url": url, "model": "llama3.2:latest"})
        assert await words_of(server) == "Understood."
        assert (await server.get("/api/model/found"))["looked"] is False
    finally:
        await later.stop()


@pytest.mark.parametrize("given", [{"llm.provider": "offline"}, {"llm.api_key": "sk-any-key-at-all"}])
async def test_nobody_looks_for_an_ollama_where_the_choice_is_made(
    open_server: OpenServer, llm: ScriptedLLM, given: JSON
) -> None:
    server = await open_server(NO_MODEL | {"llm.ollama_url": llm.url, "llm.base_url": f"{llm.url}/v1"} | given)
    assert (await server.get("/api/model/found"))["looked"] is False
    assert llm.requests == []
