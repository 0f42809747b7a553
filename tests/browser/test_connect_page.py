"""The page Connect: what it shows to copy works as it stands, and a call shows at once."""

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI
from playwright.async_api import Page, expect

from mnemoir.chats.remembering import queue_of
from mnemoir.core.scope import Scope
from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import Site, Window, until
from tests.scripted_llm import Answer
from tests.stages import staged

NARROWEST = (360, 740)
KEY = "a-key-of-sixteen-characters"
FAR_AWAY = Answer(text="Hello from far away.")  # not queued: memories are made by the same model
USER, PROJECT = """it's "me" $HOME""", "garden"


async def enter_key(page: Page) -> None:
    """Give the key that the server asks for."""
    await page.get_by_role("textbox", name="API key").fill(KEY)
    await page.get_by_role("button", name="Continue").click()


async def code_on(page: Page, language: str) -> str:
    """The program shown last, exactly as the button next to it would copy it."""
    return (await page.get_by_role("region", name=f"Code, {language}").last.text_content()) or ""


async def run(*command: str) -> str:
    """What a program says; it must end well."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, complained = await process.communicate()
    assert process.returncode == 0, complained.decode()
    return said.decode()


def ways_to_run(code: str) -> dict[str, Sequence[str]]:
    return {"python": (sys.executable, "-c", code), "sh": ("bash", "-c", code)}


async def turns_kept_for(site: Site, user: str, project: str) -> int:
    """How many turns memories are or were made of."""
    return len(await site.parts.upkeep.jobs.stored_jobs(queue_of(Scope(project=project, user=user))))


async def as_somebody(window: Window) -> None:
    """Another user and project than the server's own, as the settings of the browser keep them."""
    await window.page.add_init_script(
        f"localStorage.setItem('mnemoirUser', {json.dumps(USER)});"
        f"localStorage.setItem('mnemoirProject', {json.dumps(PROJECT)});"
    )


CLIENTS = [("curl", "sh"), ("python", "python")]


@pytest.mark.parametrize(("client", "language"), staged(CLIENTS, quick=1))
async def test_what_is_shown_runs_as_it_stands(
    site: Site, open_window: OpenWindow, client: str, language: str
) -> None:
    window = await open_window(site)
    await as_somebody(window)
    page = await window.go(f"/connect?client={client}")
    await expect(page.get_by_role("region", name=f"Code, {language}").last).to_contain_text(PROJECT)
    before = await turns_kept_for(site, USER, PROJECT)
    site.llm.default = FAR_AWAY
    said = await run(*ways_to_run(await code_on(page, language))[language])
    assert "Hello from far away." in said
    assert await until(lambda: turns_kept_for(site, USER, PROJECT), lambda kept: kept > before) == before + 1
    await expect(page.get_by_text("Last call:")).to_contain_text("(POST /v1/chat/completions)")


@pytest.mark.slow
async def test_the_program_in_javascript_is_one(site: Site, open_window: OpenWindow, tmp_path: Path) -> None:
    window = await open_window(site)
    await as_somebody(window)
    page = await window.go("/connect?client=javascript")
    await expect(page.get_by_role("region", name="Code, javascript")).to_contain_text(PROJECT)
    program = tmp_path / "chat.mjs"
    program.write_text(await code_on(page, "javascript"), encoding="utf-8")
    await run("node", "--check", str(program))


@pytest.mark.slow
async def test_the_ollama_package_is_set_up_as_shown(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/connect?client=python-ollama")
    site.llm.default = FAR_AWAY
    said = await run(*ways_to_run(await code_on(page, "python"))["python"])
    assert "Hello from far away." in said
    await expect(page.get_by_text("Last call:")).to_contain_text("(POST /api/chat), model mnemoir, with memory")


@pytest.mark.slow
async def test_agents_are_given_the_tools_of_one_user(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await as_somebody(window)
    page = await window.go("/connect?client=mcp")
    codes = page.get_by_role("region", name="Code, json")
    await expect(codes.last).to_contain_text(PROJECT)
    given = json.loads(await code_on(page, "json"))["mcpServers"]["mnemoir"]
    assert given["command"] == "mnemoir"
    started = StdioServerParameters(command=sys.executable, args=["-m", "mnemoir", *given["args"]])
    async with Client(started) as agent:
        answer = await agent.call_tool("list_memories", {})
    assert not answer.is_error
    assert answer.structured_content == {"result": []}
    await expect(page.get_by_text("Last call:")).to_contain_text("(GET /api/memories). 1 call since")
    await expect(page.get_by_role("tab", name=re.compile("^MCP.*connected$"))).to_be_visible()
    called = json.loads(await codes.first.text_content() or "")["mcpServers"]["mnemoir"]
    async with (
        httpx2.AsyncClient(headers=called["headers"]) as http,
        Client(streamable_http_client(called["url"], http_client=http)) as agent,
    ):
        assert (await agent.call_tool("list_memories", {})).structured_content == {"result": []}


@pytest.mark.slow
async def test_memory_is_left_out_where_it_is_switched_off(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/connect?client=curl&memory=off")
    site.llm.default = FAR_AWAY
    await run(*ways_to_run(await code_on(page, "sh"))["sh"])
    await expect(page.get_by_text("Last call:")).to_contain_text("without memory")


@pytest.mark.slow
async def test_a_call_shows_while_the_page_is_open(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    page = await (await open_window(site)).go("/connect?client=python")
    await expect(page.get_by_text("No calls since the server started.")).to_be_visible()
    async with AsyncOpenAI(base_url=f"{site.url}/v1", api_key="any") as client:
        await client.chat.completions.create(model="mnemoir", messages=[{"role": "user", "content": "Hello"}])
    await expect(page.get_by_text("Last call:")).to_contain_text("without memory. 1 call since")
    await expect(page.locator("[aria-live]", has_text="Receiving calls from Python, openai.")).to_have_count(1)
    await expect(page.get_by_role("row", name="Python, openai")).to_be_visible()


@pytest.mark.slow
async def test_what_may_be_sillytavern_is_told_for_sure_by_the_header_shown(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    page = await (await open_window(site)).go("/connect?client=sillytavern")
    chat = {"model": "mnemoir", "messages": [{"role": "user", "content": "Hello"}]}
    async with aiohttp.ClientSession(site.url, headers={"User-Agent": "node-fetch"}) as sillytavern:
        async with sillytavern.post("/v1/chat/completions", json=chat) as answer:
            assert answer.status == 200
        await expect(page.get_by_text("Possibly SillyTavern:")).to_contain_text("identifies itself as node-fetch")
        shown = await page.get_by_text("X-Mnemoir-Client:").text_content() or ""
        headers = {name: json.loads(value) for name, value in (line.split(": ") for line in shown.splitlines())}
        async with sillytavern.post("/v1/chat/completions", json=chat, headers=headers) as answer:
            assert answer.status == 200
    await expect(page.get_by_text("Last call:")).to_contain_text("with memory. 1 call since")


@pytest.mark.slow
async def test_a_server_with_keys_shows_where_one_goes(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site(api_keys=[KEY])
    page = await (await open_window(site)).go("/connect?client=python")
    await enter_key(page)
    await expect(page.get_by_text("Use an API key instead of")).to_be_visible()
    shown = await code_on(page, "python")
    assert KEY not in await page.content()
    site.llm.default = FAR_AWAY
    assert "Hello from far away." in await run(sys.executable, "-c", shown.replace("YOUR_KEY", KEY))
    await expect(page.get_by_text("Last call:")).to_be_visible()


@pytest.mark.slow
async def test_below_a_path_the_whole_address_is_shown(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site(root_path="/memory")
    page = await (await open_window(site)).go("/memory/connect?client=curl")
    code = page.get_by_role("region", name="Code, sh").last
    await expect(code).to_contain_text(f"{site.url}/memory/v1/chat/completions")
    site.llm.default = FAR_AWAY
    assert "Hello from far away." in await run(*ways_to_run(await code_on(page, "sh"))["sh"])


@pytest.mark.slow
@pytest.mark.parametrize("client", ["open-webui", "python", "mcp", "other"])
async def test_nobody_is_shut_out(site: Site, open_window: OpenWindow, client: str) -> None:
    window = await open_window(site, size=NARROWEST)
    async with AsyncOpenAI(base_url=f"{site.url}/v1", api_key="any") as openai:
        await openai.chat.completions.create(model="mnemoir", messages=[{"role": "user", "content": "Hello"}])
    page = await window.go(f"/connect?client={client}")
    await expect(page.get_by_role("table")).to_be_visible()
    await window.has_no_barrier(("light", NARROWEST), ("dark", NARROWEST))
