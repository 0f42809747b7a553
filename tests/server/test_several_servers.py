"""Two servers over one database of PostgreSQL: what a person sets at one holds at the other within a moment."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mnemoir.app import open_parts
from mnemoir.cli.diagnosis.checks import check_model
from mnemoir.core.scope import Scope
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from mnemoir.storage.sql.languages import SqlLanguages
from tests.postgres_server import servers
from tests.scripted_llm import Answer, ScriptedLLM
from tests.server.server_kit import JSON, Server, succeeded
from tests.server.storages import settings_of
from tests.server.test_model_routes import KEY, NO_MODEL, OWN, at, save, words_of

pytestmark = pytest.mark.slow
PEPPER = {"security.pepper": "a-pepper-of-the-tests-for-all-servers"}
Start = Callable[..., Awaitable[Server]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts one more server over the same database, with a data directory that begins as that of the first."""
    async with contextlib.AsyncExitStack() as opened:
        database = opened.enter_context(settings_of(18, tmp_path))
        folders: list[Path] = []

        async def one_more(**settings: Any) -> Server:
            folder = tmp_path / f"data{len(folders)}"
            if folders:
                shutil.copytree(folders[0], folder)
            folders.append(folder)
            given = {"storage.data_dir": str(folder)} | database | NO_MODEL | PEPPER | settings
            parts = await open_parts(load_settings(None, given, environ={}))
            opened.push_async_callback(parts.aclose)
            await parts.start()
            return Server(app=create_app(parts, ServerOptions()), parts=parts)

        yield one_more


async def wait_until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Fails after half a minute."""
    began = time.monotonic()
    while not await is_so():
        assert time.monotonic() < began + 30
        await asyncio.sleep(0.02)


async def test_a_model_that_is_connected_at_one_server_answers_at_the_other(
    start: Start, llm: ScriptedLLM, tmp_path: Path
) -> None:
    here, there = await start(), await start()
    llm.default = Answer(text="Hello from far away.")
    await save(here, at(llm))

    async def is_connected() -> bool:
        return await words_of(there) == "Hello from far away."

    await wait_until(is_connected)
    assert llm.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
    told = (await there.get("/api/model"))["setup"]
    assert (told["saved"]["model"], told["in_use"]["has_key"], KEY in str(told)) == ("far-model", True, False)
    assert not (tmp_path / "data0" / "settings").exists()
    succeeded(await there.ask("DELETE", "/api/model", **OWN))

    async def is_forgotten() -> bool:
        return "No language model is connected" in await words_of(here)

    await wait_until(is_forgotten)


async def test_a_server_that_starts_later_has_the_saved_models(start: Start, llm: ScriptedLLM) -> None:
    here = await start()
    await save(here, at(llm))
    embedding: JSON = {"provider": "openai", "url": llm.openai_url, "model": "far-vectors", "api_key": KEY}
    succeeded(await here.ask("PUT", "/api/model/embedding", embedding, **OWN))
    assert (await here.get("/api/model/embedding"))["setup"]["restart_needed"] is True
    there = await start()
    assert (await words_of(there), there.parts.models.embedding.name) == ("Understood.", "openai:far-vectors")
    assert llm.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
    assert (await there.get("/api/model/embedding"))["setup"]["in_use"]["has_key"] is True


async def test_the_doctor_beside_a_server_asks_the_saved_model_with_its_key(start: Start, llm: ScriptedLLM) -> None:
    here = await start()
    await save(here, at(llm))
    told = await check_model(here.parts.settings)
    assert (told.state, "far-model" in told.found, KEY in told.found) == ("ok", True, False)
    assert llm.requests[-1].headers["Authorization"] == f"Bearer {KEY}"


async def test_no_table_tells_the_key_and_another_pepper_does_not_open_it(
    start: Start, llm: ScriptedLLM, tmp_path: Path
) -> None:
    await save(await start(), at(llm))
    assert servers.tables_with(tmp_path, "far-model") == ["saved_settings"]
    assert servers.tables_with(tmp_path, KEY) == []
    stranger = await start(**{"security.pepper": "another-pepper-of-another-server"})
    assert (await stranger.get("/api/model"))["setup"]["saved"]["has_key"] is False
    await words_of(stranger)
    assert "Authorization" not in llm.requests[-1].headers


async def test_a_policy_for_personal_data_that_is_set_at_one_server_holds_at_the_other(start: Start) -> None:
    here, there = await start(), await start()
    path = "/api/memories/settings"

    async def policy_there() -> str:
        return str((await there.get(path))["piiFacts"])

    before = await policy_there()
    succeeded(await here.ask("PUT", path, {"piiFacts": "block"}, **OWN))
    assert before != "block"

    async def holds() -> bool:
        return await policy_there() == "block"

    await wait_until(holds)


async def test_the_language_of_a_question_at_one_server_is_known_at_the_other(start: Start) -> None:
    here, there = await start(), await start()
    drinks = {"messages": [{"role": "user", "content": "Trinkt Tee"}], "user_id": "mira", "infer": False}
    succeeded(await here.ask("POST", "/api/memories", drinks))
    asked = {"query": "In welcher Stadt ist sie zu Hause?", "user_id": "mira"}
    mira = Scope(tenant="default", project="default", user="mira")

    async def is_known() -> bool:
        succeeded(await here.ask("POST", "/api/memories/search", asked))  # which waits for the detector so long only
        return await SqlLanguages(there.parts.memory.database).last_of(mira) == "de"

    await wait_until(is_known)
