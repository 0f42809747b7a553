"""Saving an embedding model: tested first, in force after a restart, its key apart, for whoever may."""

import pytest

from mnemoir.core.errors import SettingsError
from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, failure
from tests.server.conftest import OpenServer
from tests.server.server_kit import JSON, Server, error_of, succeeded

OWN = {"origin": "http://localhost", "content_type": "application/json"}
KEY = "sk-canary-of-the-embedder-2718281828"
PATH = "/api/model/embedding"
WRITES = [("PUT", PATH), ("DELETE", PATH), ("POST", f"{PATH}/test"), ("POST", f"{PATH}/list")]
BUILT_IN = {"provider": "builtin", "model": "all-MiniLM-L6-v2-int8", "url": None, "has_key": False}


def at(llm: ScriptedLLM, **more: object) -> JSON:
    """An embedding model at the scripted server."""
    return {"provider": "openai", "url": llm.openai_url, "model": "far-vectors", "api_key": KEY} | more


async def ask(server: Server, method: str, path: str, body: JSON | None = None) -> JSON:
    answer: JSON = succeeded(await server.ask(method, path, body, **OWN))
    return answer


async def test_a_saved_model_waits_for_the_restart_and_then_embeds_all_memories_again(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server({})
    fact = {"messages": [{"role": "user", "content": "Lives in Graz"}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", fact)
    setup = (await ask(server, "PUT", PATH, at(llm)))["setup"]
    far = {"provider": "openai", "model": "far-vectors", "url": llm.openai_url, "has_key": True}
    assert (setup["in_use"], setup["after_restart"], setup["restart_needed"]) == (BUILT_IN, far, True)
    assert llm.requests == []
    await server.parts.aclose()
    again = await open_server({})
    await again.parts.upkeep.reembedding.look()
    assert await again.parts.upkeep.reembedding.backlog() == (0, 1)
    assert llm.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
    setup = (await again.get(PATH))["setup"]
    assert (setup["in_use"], setup["restart_needed"]) == (far, False)
    status = (await again.get("/api/status"))["embedder"]
    assert (status["name"], status["url"]) == ("openai:far-vectors", llm.openai_url)
    setup = (await ask(again, "DELETE", PATH))["setup"]
    assert (setup["saved"], setup["after_restart"], setup["restart_needed"]) == (None, BUILT_IN, True)


async def test_the_key_lies_apart_for_its_owner_alone_and_goes_with_the_address(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server({})
    await ask(server, "PUT", PATH, at(llm))
    folder = server.parts.settings.storage.data_dir / "settings"
    assert KEY not in (folder / "embedding.json").read_text()
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}
    kept = await ask(server, "PUT", PATH, at(llm, model="other", api_key=None))
    assert kept["setup"]["saved"]["has_key"] is True
    moved = await ask(server, "PUT", PATH, at(llm, url=f"{closed_port_url()}/v1", api_key=None))
    assert moved["setup"]["saved"]["has_key"] is False
    assert [path.name for path in folder.iterdir()] == ["embedding.json"]
    assert KEY not in str(await server.get(PATH))


async def test_a_test_embeds_one_text_and_tells_width_and_time(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server({})
    llm.queue_embedding(Answer(vectors=[[0.6, 0.8, 0.0]]))
    tested = await ask(server, "POST", f"{PATH}/test", at(llm))
    assert (tested["ok"], tested["model"], tested["dimension"]) == (True, "openai:far-vectors", 3)
    assert tested["latency_ms"] > 0
    assert (await server.get(PATH))["setup"]["saved"] is None
    in_use = await ask(server, "POST", f"{PATH}/test")
    assert (in_use["ok"], in_use["model"], in_use["dimension"]) == (True, BUILT_IN["model"], 384)


async def test_a_failed_test_tells_its_status_and_nothing_of_the_body(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server({})
    llm.queue_embedding(failure(401, "canary of the body"))
    raw = await server.ask("POST", f"{PATH}/test", at(llm), **OWN)
    tested = succeeded(raw)
    assert (tested["ok"], tested["status"], tested["problem"]) == (False, 401, "it refused the key (401)")
    assert (b"canary" in raw.body, len(llm.requests)) == (False, 1)


async def test_the_models_of_an_address_are_listed_with_those_that_embed_first(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    llm.models = ["small", "large", "nomic-embed-text"]
    server = await open_server({})
    ollama = {"provider": "ollama", "url": llm.url}
    assert (await ask(server, "POST", f"{PATH}/list", ollama))["models"] == ["nomic-embed-text", "small", "large"]
    assert (await ask(server, "POST", f"{PATH}/list", at(llm, model="any")))["models"] == llm.models


async def test_what_file_or_environment_set_comes_first_and_is_refused_here(
    open_server: OpenServer, llm: ScriptedLLM
) -> None:
    server = await open_server({"embedding.provider": "ollama", "embedding.model": "theirs"})
    setup = (await server.get(PATH))["setup"]
    assert [(fixed["key"], fixed["value"]) for fixed in setup["fixed"]] == [
        ("embedding.provider", "ollama"),
        ("embedding.model", "theirs"),
    ]
    answer = await server.ask("PUT", PATH, at(llm), **OWN)
    assert error_of(answer) == (400, "set_elsewhere")
    mine = {"provider": "ollama", "url": llm.url, "model": "mine"}
    assert error_of(await server.ask("PUT", PATH, mine, **OWN)) == (400, "set_elsewhere")
    saved = await ask(server, "PUT", PATH, mine | {"model": "theirs"})
    assert saved["setup"]["after_restart"]["url"] == llm.url


async def test_a_key_of_the_settings_goes_to_its_own_address_only(open_server: OpenServer, llm: ScriptedLLM) -> None:
    async with ScriptedLLM() as other:
        given = {"embedding.base_url": other.openai_url, "embedding.api_key": "sk-theirs"}
        server = await open_server(given)
        refused = await server.ask("POST", f"{PATH}/test", at(llm), **OWN)
        assert error_of(refused) == (400, "set_elsewhere")
        await ask(server, "POST", f"{PATH}/test", at(other, api_key=None))
        assert other.requests[-1].headers["Authorization"] == "Bearer sk-theirs"
    await server.parts.aclose()
    server = await open_server({"embedding.api_key": "sk-theirs"})
    await ask(server, "POST", f"{PATH}/test", at(llm, api_key=None))
    assert "Authorization" not in llm.requests[-1].headers


@pytest.mark.parametrize(("method", "path"), WRITES)
async def test_only_a_page_of_this_server_or_the_admin_key_changes_it(
    open_server: OpenServer, llm: ScriptedLLM, method: str, path: str
) -> None:
    server, body = await open_server({}), None if method == "DELETE" else at(llm)
    assert error_of(await server.ask(method, path, body, origin="http://localhost")) == (403, "own_page_needed")
    await server.parts.aclose()
    keys = ["an-ordinary-key-of-the-tests", "an-admin-key-of-the-tests"]
    guarded = await open_server({}, host="0.0.0.0", api_keys=keys, admin_api_key=keys[1])
    ordinary = await guarded.ask(method, path, body, authorization=f"Bearer {keys[0]}", **OWN)
    assert error_of(ordinary) == (403, "admin_key_needed")
    assert (await guarded.ask(method, path, body, authorization=f"Bearer {keys[1]}")).status == 200


@pytest.mark.parametrize(("method", "path"), [WRITES[0], *WRITES[2:]])
async def test_addresses_that_no_model_has_are_refused(open_server: OpenServer, method: str, path: str) -> None:
    server = await open_server({})
    body = {"provider": "openai", "url": "http://169.254.169.254/v1", "model": "m"}
    assert error_of(await server.ask(method, path, body, **OWN)) == (400, "address_refused")


async def test_a_damaged_file_stops_the_start_with_its_name(open_server: OpenServer, llm: ScriptedLLM) -> None:
    server = await open_server({})
    await ask(server, "PUT", PATH, at(llm))
    path = server.parts.settings.storage.data_dir / "settings" / "embedding.json"
    path.write_text("{")
    await server.parts.aclose()
    with pytest.raises(SettingsError, match=r"embedding[.]json: is damaged.*mnemoir model embedding set"):
        await open_server({})
