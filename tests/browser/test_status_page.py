"""The page Status: models that die and come back, those of a config tree, times after calls, work that waits."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import Scheme, Site, turn
from tests.scripted_llm import ScriptedLLM, closed_port_url
from tests.server.served_tree import answering, asking, endpoint, served

NARROWEST = (360, 740)
KEY = "a-key-of-sixteen-characters"
# which of the tokens' colours a canvas has somewhere
COLOURS = """(canvas, tokens) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] === 255)
            seen.add('#' + [0, 1, 2].map(part => data[at + part].toString(16).padStart(2, '0')).join(''));
    return tokens.map(token => seen.has(getComputedStyle(canvas).getPropertyValue(token).trim()));
}"""


async def chat(site: Site, **headers: str) -> None:
    """One chat with memory, which recalls."""
    said = {"model": "mnemoir", "memoryEnabled": True, "messages": [{"role": "user", "content": "I row."}]}
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{site.url}/v1/chat/completions", json=said, headers=headers) as answer,
    ):
        assert answer.status == 200


async def remember(site: Site, words: str) -> None:
    """One memory, as it stands."""
    said = {"messages": [{"role": "user", "content": words}], "user_id": "user", "infer": False}
    async with aiohttp.ClientSession() as http, http.post(f"{site.url}/api/memories", json=said) as answer:
        assert answer.status == 200


async def check(page: Page) -> None:
    await page.get_by_role("button", name="Check models now").click()


@pytest.mark.slow
async def test_the_counts_fill_their_rows_in_any_width(start_site: StartSite, open_window: OpenWindow) -> None:
    window = await open_window(await start_site())
    counts = (await window.go("/status")).get_by_label("Counts", exact=True)
    for width in (1440, 1000, 820, 600, 390, 360):
        await window.look("light", (width, 900))
        ends = await counts.evaluate(
            """box => {
                const inside = box.getBoundingClientRect().left + box.clientLeft + box.clientWidth;
                const rows = new Map();
                for (const cell of box.children) {
                    const { top, right } = cell.getBoundingClientRect();
                    rows.set(top, Math.max(right, rows.get(top) ?? 0));
                }
                return [...rows.values()].map(right => inside - right);
            }"""
        )
        assert [round(end) for end in ends] == [0] * len(ends), width


async def test_a_model_that_dies_and_comes_back_is_seen(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    page = await (await open_window(site)).go("/status")
    model = page.get_by_role("region", name="Model", exact=True)
    await expect(model).to_contain_text("OK")
    await expect(model).to_contain_text("far-model")
    port = urlsplit(site.llm.url).port
    await site.llm.stop()
    await check(page)
    await expect(model).to_contain_text("Not working")
    await expect(page.get_by_role("note")).to_contain_text("Check the address")
    await site.llm.start(port or 0)
    await check(page)
    await expect(model).to_contain_text("OK")
    await expect(page.get_by_role("note")).to_have_count(0)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def tree(start_site: StartSite, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """A server of a config tree with many endpoints of one server, and two where there is none."""
    names, gone = [f"model-{number:02}" for number in range(50)], ["gone-1", "gone-2"]
    async with ScriptedLLM() as far:
        files: dict[str, object] = {
            **{f"Endpoints/{name}.json": endpoint(far.url, modelNameToSendToAPI=name) for name in names},
            **{f"Endpoints/{name}.json": endpoint(closed_port_url()) for name in gone},
            "Workflows/Ann/All.json": [*map(asking, [*names, *gone]), answering()],
        }
        yield await start_site(served(tmp_path_factory.mktemp("tree"), far.url, files=files))


@pytest.mark.slow
async def test_endpoints_of_a_tree_are_shown_those_with_problems_first(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go("/status")
    part = page.get_by_role("region", name="Endpoints", exact=True)
    rows = part.get_by_role("listitem")
    await expect(part).to_contain_text("2 with problems, 51 OK")
    await expect(rows).to_have_count(8)
    await expect(rows.first).to_contain_text("gone-1Not working")
    await expect(rows.first).to_contain_text("Start its server, or correct endpoint in Endpoints/gone-1.json.")
    await expect(page.get_by_role("note")).to_contain_text(["2 of 53 endpoints have problems: gone-1, gone-2."])
    await part.get_by_role("button", name="Show 45 more").press("Enter")
    await expect(rows).to_have_count(53)
    await expect(page).to_have_url(f"{tree.url}/status?endpoints=53")
    await chat(tree)
    await expect(rows.filter(has_text="Main")).to_contain_text("answered")
    await rows.filter(has_text="model-07").get_by_role("link").click()
    await expect(page).to_have_url(f"{tree.url}/workflows?file=Endpoints%2Fmodel-07.json")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_endpoints_shut_nobody_out(tree: Site, open_window: OpenWindow, scheme: Scheme) -> None:
    window = await open_window(tree, scheme=scheme, size=NARROWEST)
    page = await window.go("/status?endpoints=53")
    await expect(page.get_by_role("region", name="Endpoints", exact=True)).to_contain_text("51 OK")
    await window.axe()
    await window.is_within()


async def colours_in(part: Locator, *tokens: str) -> list[bool]:
    """Which of the colours the picture in a part of the page has."""
    await expect(part.locator("canvas")).to_be_visible()
    found: list[bool] = await part.locator("canvas").evaluate(COLOURS, tokens)
    return found


@pytest.mark.slow
async def test_calls_show_as_times_and_counts_while_the_page_is_open(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    page = await (await open_window(site)).go("/status")
    await expect(page.get_by_text("No data for the last hour.")).to_have_count(2)
    await chat(site)
    await remember(site, "Rows daily")
    recall, write = (page.get_by_role("region", name=name, exact=True) for name in ("Recall", "Write"))
    for part in (recall, write):
        await expect(part).to_contain_text("1 time")
        assert await colours_in(part, "--second") == [True]  # of one time it is all that is seen
    await turn(page.get_by_role("switch", name="Show as tables"), on=True)
    await expect(recall.get_by_role("table").get_by_role("row")).to_have_count(2)
    await page.get_by_text("Last 24 hours", exact=True).click()
    await expect(page).to_have_url(f"{site.url}/status?as=table&span=day")
    await expect(recall.get_by_role("table").get_by_role("row")).to_have_count(2)
    await expect(page.get_by_label("Counts").locator("div", has_text="Memories")).to_contain_text("1", timeout=20_000)


@pytest.mark.slow
async def test_what_was_added_today_is_a_bar_and_a_row(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    await remember(site, "Rows daily")
    page = await (await open_window(site, size=NARROWEST)).go("/status")
    memories = page.get_by_role("region", name="Memories a day", exact=True)
    await expect(memories).to_contain_text("30 days:1")
    assert await colours_in(memories, "--accent", "--second") == [True, False]
    await turn(page.get_by_role("switch", name="Show as tables"), on=True)
    await expect(memories.get_by_role("table").get_by_role("row")).to_have_count(2)
    await expect(page.get_by_role("region", name="Messages a day", exact=True)).to_contain_text("Nothing in the last")


@pytest.mark.slow
async def test_counts_lead_to_their_pages(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/status")
    await page.get_by_label("Counts").get_by_role("link", name="Runs").click()
    await expect(page).to_have_url(f"{site.url}/runs")


@pytest.mark.slow
async def test_a_job_that_was_given_up_is_told(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    await site.parts.upkeep.background.put("no such kind", {})
    page = await (await open_window(site)).go("/status")
    await expect(page.get_by_role("row", name="no such kind 0 0 1")).to_be_visible()
    await expect(page.get_by_role("note")).to_contain_text("1 background job was given up")


@pytest.mark.slow
async def test_a_server_with_keys_shows_all_of_it_to_who_has_one(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site(api_keys=[KEY])
    page = await (await open_window(site)).go("/status")
    await page.get_by_role("textbox", name="API key").fill(KEY)
    await page.get_by_role("button", name="Continue").click()
    await expect(page.get_by_role("region", name="Storage")).to_contain_text("OK")


@pytest.mark.slow
async def test_everything_is_done_by_keyboard(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/status")
    await page.get_by_role("switch", name="Show as tables").focus()
    await page.keyboard.press("Space")
    await expect(page).to_have_url(f"{site.url}/status?as=table")
    await page.get_by_role("radio", name="Last hour").focus()
    await page.keyboard.press("ArrowRight")
    await expect(page).to_have_url(f"{site.url}/status?as=table&span=day")
    await page.get_by_role("button", name="Check models now").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Model", exact=True)).to_contain_text("OK")


@pytest.mark.slow
@pytest.mark.parametrize("shown", ["chart", "table"])
async def test_nobody_is_shut_out(site: Site, open_window: OpenWindow, shown: str) -> None:
    await chat(site)
    window = await open_window(site, size=NARROWEST)
    page = await window.go(f"/status?as={shown}")
    part = page.get_by_role("region", name="Recall", exact=True)
    await expect(part.locator("table" if shown == "table" else "canvas")).to_be_visible()
    await window.has_no_barrier(("light", NARROWEST), ("dark", NARROWEST))
