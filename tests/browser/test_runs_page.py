"""The Runs page: runs as they happen, one as a tree over time, prompts and commands, and two beside each other."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from mnemoir.core.runs import NodeTrace, RunTrace, WorkflowTrace
from mnemoir.core.scope import Scope
from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.runs_kit import chat, start_tree
from tests.browser_kit import Site, turn, until
from tests.scripted_llm import ScriptedLLM, failure
from tests.stages import staged
from tests.tree_kit import asked_by

SCOPE = Scope(project="default", user="user")
HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script> [go](javascript:alert(3)) \u202egpj.exe ![p](http://evil.example/p.png)'


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def far_llm() -> AsyncIterator[ScriptedLLM]:
    """The model of the tree's endpoints."""
    async with ScriptedLLM() as llm:
        llm.rule(asked_by("Plan"), "Boil water first.")
        llm.rule(asked_by("Check the plan"), "It is wise.")
        llm.rule(asked_by("Afterthought"), "No.")  # asked behind the answer: it must not take what is queued next
        yield llm


@pytest.fixture(autouse=True)
def nothing_is_queued(far_llm: ScriptedLLM) -> None:
    """What one test queued or released is over for the next."""
    far_llm.clear()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def tree(start_site: StartSite, tmp_path_factory: pytest.TempPathFactory, far_llm: ScriptedLLM) -> Site:
    """A server with a workflow that runs another."""
    return await start_tree(start_site, tmp_path_factory.mktemp("runs"), far_llm)


def happen(site: Site, run_id: str, *nodes: NodeTrace, **members: Any) -> None:
    """A run that begins and ends, without a model."""
    run = RunTrace(id=run_id, scope=SCOPE, **members)
    run.workflows = [WorkflowTrace(name="Chat", nodes=list(nodes))]
    site.parts.trees.runs.note_begin(run)
    run.status = "failed" if run.error else "finished"
    run.duration_ms = 100.0
    site.parts.trees.runs.note_end(run)


def a_node(title: str, **members: Any) -> NodeTrace:
    return NodeTrace(number=1, title=title, type="Standard", started_ms=1.0, duration_ms=50.0, **members)


async def go(page: Page, name: str) -> None:
    await page.get_by_role("tab", name=name).click()


async def test_runs_appear_as_they_happen_and_are_seen_to_end(
    tree: Site, far_llm: ScriptedLLM, open_window: OpenWindow
) -> None:
    page = await (await open_window(tree)).go("/runs")
    await expect(page.locator("[data-live=yes]")).to_be_attached()
    far_llm.reply("Boil it.", stall_after=0)
    sending = asyncio.create_task(chat(tree, stream=True))
    row = page.get_by_role("listitem").first
    await expect(row).to_contain_text("Running")
    far_llm.release()
    _, run_id = await sending
    await expect(row).to_contain_text("Finished")
    await expect(row.get_by_role("link")).to_have_attribute("href", re.compile(f"id={run_id}"))
    await expect(row).to_contain_text("Chat")


@pytest.mark.slow
async def test_a_run_under_way_is_followed_node_by_node(tree: Site, open_window: OpenWindow) -> None:
    run, runs = RunTrace(id="watched", scope=SCOPE), tree.parts.trees.runs
    runs.note_begin(run)
    page = await (await open_window(tree)).go("/runs?id=watched")
    await expect(page.locator("[data-live=yes]")).to_be_attached()
    await expect(page.get_by_text("The run is starting.")).to_be_visible()
    node = NodeTrace(number=1, title="Ponder", type="Standard", started_ms=1.0)
    run.workflows = [WorkflowTrace(name="Chat", nodes=[node])]
    runs.note_node(run, node)
    await expect(page.get_by_role("treeitem", name="Ponder")).to_contain_text("running")
    node.duration_ms = 50.0
    runs.note_node(run, node)
    await expect(page.get_by_role("treeitem", name="Ponder")).to_contain_text("50 ms")
    run.status = "finished"
    runs.note_end(run)
    await expect(page.get_by_role("region", name="The run").get_by_text("Finished").first).to_be_visible()


@pytest.mark.slow
async def test_a_paused_list_stays_as_it_is(tree: Site, open_window: OpenWindow) -> None:
    _, run_id = await chat(tree)
    page = await (await open_window(tree)).go("/runs")
    await expect(page.locator("[data-live=yes]")).to_be_attached()
    await expect(page.locator(f'a[href*="id={run_id}"]')).to_be_visible()
    before = await page.get_by_role("listitem").count()
    await turn(page.get_by_role("switch", name="Live updates"), on=False)
    happen(tree, "unseen")
    await chat(tree)
    assert await page.get_by_role("listitem").count() == before
    await turn(page.get_by_role("switch", name="Live updates"), on=True)
    await expect(page.locator('a[href*="id=unseen"]')).to_be_visible()


@pytest.mark.slow
async def test_a_run_is_a_tree_over_time_that_the_keyboard_walks(tree: Site, open_window: OpenWindow) -> None:
    _, run_id = await chat(tree)
    page = await (await open_window(tree)).go(f"/runs?id={run_id}")
    rows = page.get_by_role("treeitem")
    names = ["Chat", "Think first", "Thinking", "Plan", "Check the plan", "Answer", "Afterthought"]
    await expect(rows).to_have_count(len(names))
    for row, name in zip(await rows.all(), names, strict=True):
        await expect(row).to_contain_text(name)
    await expect(page.get_by_role("region", name="Node Answer")).to_contain_text("answered the client")
    await page.get_by_role("treeitem", name="Answer").focus()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Node Check the plan")).to_be_visible()
    await expect(page).to_have_url(re.compile("node=2"))
    for _ in range(3):
        await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("ArrowLeft")
    await expect(rows).to_have_count(4)
    await page.keyboard.press("ArrowRight")
    await expect(rows).to_have_count(5)


@pytest.mark.slow
async def test_bars_stand_one_behind_the_other(tree: Site, open_window: OpenWindow) -> None:
    _, run_id = await chat(tree)
    page = await (await open_window(tree)).go(f"/runs?id={run_id}")
    await expect(page.get_by_role("treeitem")).to_have_count(7)
    boxes = [
        await page.get_by_role("treeitem", name=name).locator("[data-part]").first.bounding_box()
        for name in ("Plan Standard", "Check the plan", "Answer Standard")
    ]
    starts = [box["x"] for box in boxes if box]
    assert len(starts) == 3
    assert starts == sorted(starts)


@pytest.mark.slow
async def test_variables_of_a_prompt_stand_out_and_tell_their_names(tree: Site, open_window: OpenWindow) -> None:
    _, run_id = await chat(tree, "How do I make soup? 🍲")
    page = await (await open_window(tree)).go(f"/runs?id={run_id}")
    legend = page.get_by_role("list", name="Variables in this prompt")
    await expect(legend).to_contain_text("agent2Output × 2")
    marks = page.get_by_role("group", name="Variable agent2Output")
    await expect(marks).to_have_text(["It is wise."] * 2)
    await expect(page.get_by_role("group", name="Variable chat_user_prompt_last_one")).to_have_text(
        "How do I make soup? 🍲"
    )
    await marks.first.focus()
    await expect(page.get_by_role("tooltip")).to_have_text("{agent2Output}")


@pytest.mark.slow
async def test_a_node_that_failed_tells_why(tree: Site, far_llm: ScriptedLLM, open_window: OpenWindow) -> None:
    far_llm.queue(failure(400, "no such soup"))
    status, run_id = await chat(tree)
    assert status == 400
    page = await (await open_window(tree)).go(f"/runs?id={run_id}")
    await expect(page.get_by_role("treeitem", name="failed")).to_contain_text("Answer")
    await expect(page.get_by_role("region", name="Node Answer").get_by_role("alert")).to_contain_text("no such soup")
    await page.goto(f"{tree.url}/runs?status=failed&error=NO+SUCH")
    await expect(page.get_by_role("listitem").first).to_contain_text("no such soup")


@pytest.mark.parametrize(("button", "path"), staged([("Request as curl", "own"), ("Call as curl", "far")], quick=1))
@pytest.mark.slow
async def test_a_copied_command_asks_the_same_again(
    tree: Site, far_llm: ScriptedLLM, open_window: OpenWindow, button: str, path: str
) -> None:
    _, run_id = await chat(tree, "It's $HOME; `echo no`?")
    asked = next(asked for asked in far_llm.requests[::-1] if asked_by("Answer")(asked))
    page = await (await open_window(tree, permissions=["clipboard-read", "clipboard-write"])).go(f"/runs?id={run_id}")
    await page.get_by_role("button", name=button).click()
    await page.get_by_role("button", name="Copy code").click()
    command = await page.evaluate("navigator.clipboard.readText()")
    far_llm.clear()
    running = await asyncio.create_subprocess_shell(f"{command} --silent", stdout=asyncio.subprocess.PIPE)
    out, _ = await asyncio.wait_for(running.communicate(), 20)
    assert running.returncode == 0
    assert json.loads(out)["choices"][0]["message"]["content"] == "Understood."
    again = next(asked for asked in far_llm.requests if asked_by("Answer")(asked))
    assert again.body == asked.body


@pytest.mark.slow
async def test_what_was_read_and_what_was_learned_behind_the_answer_is_told(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    site.llm.reply("Noted.")
    site.llm.reply_json({"facts": ["Is allergic to walnuts"]})
    _, first = await chat(site, "I am allergic to walnuts.", memoryEnabled=True)
    page = await (await open_window(site)).go(f"/runs?id={first}&node=2")
    learned = page.get_by_role("region", name="Node Remember").get_by_role("link", name="Is allergic to walnuts")
    await expect(learned).to_have_attribute("href", re.compile("/memories[?]id="))
    address = await learned.get_attribute("href") or ""
    _, second = await chat(site, "May I eat walnut cake?", memoryEnabled=True)
    await page.goto(f"{site.url}/runs?id={second}&node=0")
    read = page.get_by_role("region", name="Node Recall").get_by_role("link", name="Is allergic to walnuts")
    await expect(read).to_have_attribute("href", address)
    await page.get_by_role("treeitem", name="Respond").click()
    await expect(page.get_by_role("group", name="Variable recalled_memories")).to_contain_text("walnuts")


@pytest.mark.slow
async def test_two_runs_stand_beside_each_other(tree: Site, far_llm: ScriptedLLM, open_window: OpenWindow) -> None:
    far_llm.reply("Boil it for an hour.")
    await chat(tree, "How do I make soup?")
    far_llm.reply("Boil it for a day.")
    await chat(tree, "How do I make broth?")
    page = await (await open_window(tree)).go("/runs")
    for row in (1, 0):
        await turn(page.get_by_role("listitem").nth(row).get_by_role("checkbox"), on=True)
    await page.get_by_role("link", name="Compare two runs").click()
    figures = page.get_by_role("region", name="Figures of both runs")
    await expect(figures.get_by_role("row", name=re.compile("^Nodes"))).to_contain_text("the same")
    await page.get_by_role("button", name=re.compile("^Answer")).click()
    await expect(page.locator("del", has_text="hour")).to_be_visible()
    await expect(page.locator("ins", has_text="day")).to_be_visible()
    await expect(page.locator("ins", has_text="broth")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["Prompt", "Output", "Markdown"])
async def test_hostile_texts_are_shown_and_do_nothing(site: Site, open_window: OpenWindow, view: str) -> None:
    prompt = [{"role": "user", "content": HOSTILE}]
    happen(site, "hostile", a_node(HOSTILE, prompt=prompt, output=HOSTILE, notes=[HOSTILE]), error=HOSTILE)
    window = await open_window(site)
    page = await window.go("/runs?id=hostile")
    panel = page.get_by_role("region", name=re.compile("^Node"))
    await expect(panel).to_contain_text("<img src=x")
    if view != "Prompt":
        await go(page, "Output")
    if view == "Markdown":
        await panel.get_by_text("Markdown", exact=True).click()
    await expect(panel).to_contain_text("U+202E")
    assert await page.locator("main img, main script").count() == 0
    assert await page.locator('main a[href^="javascript"]').count() == 0


@pytest.mark.slow
async def test_a_thousand_runs_are_listed_page_by_page(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    for number in range(500):
        happen(site, f"r{number}", a_node("Answer"))
    await site.parts.trees.runs.latest(limit=1)
    for number in range(500, 1000):
        happen(site, f"r{number}", a_node("Answer"))
    page = await (await open_window(site)).go("/runs")
    await expect(page.locator('a[href*="id=r999"]')).to_be_visible()
    assert await page.get_by_role("listitem").count() < 60
    scroller = page.get_by_role("group", name="Runs, newest first")

    async def at_the_end() -> int:
        await scroller.evaluate("list => list.scrollTo(0, list.scrollHeight)")
        return await page.locator('a[href$="id=r0"]').count()

    assert await until(at_the_end)
    assert await page.get_by_role("listitem").count() < 60


@pytest.mark.slow
async def test_a_run_of_hundreds_of_nodes_opens_and_is_walked(site: Site, open_window: OpenWindow) -> None:
    happen(site, "large", *(a_node(f"Node {number}") for number in range(800)))
    page = await (await open_window(site)).go("/runs?id=large")
    await page.get_by_role("treeitem", name="Node 799").focus()
    await page.keyboard.press("Home")
    await expect(page.get_by_role("treeitem", name="Workflow Chat")).to_be_focused()
    await page.keyboard.press("End")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Node Node 799")).to_be_visible()


@pytest.mark.slow
async def test_filters_are_in_the_address_and_survive_a_reload(tree: Site, open_window: OpenWindow) -> None:
    await chat(tree)
    page = await (await open_window(tree)).go("/runs")
    await page.get_by_label("Status").select_option("finished")
    await page.get_by_role("button", name=re.compile("^Filters")).click()
    await page.get_by_label("Workflow", exact=True).fill("nowhere")
    await expect(page.get_by_text("No matching runs")).to_be_visible()
    await page.reload()
    await expect(page.get_by_text("No matching runs")).to_be_visible()
    await expect(page).to_have_url(re.compile("status=finished.*workflow=nowhere"))
    await page.get_by_role("button", name="Clear filters").click()
    await expect(page.get_by_role("listitem").first).to_contain_text("Chat")


@pytest.mark.slow
async def test_runs_that_are_switched_off_say_how_to_have_them(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site({"runs.enabled": False})
    page = await (await open_window(site)).go("/runs")
    await expect(page.get_by_text("Runs are not recorded")).to_be_visible()
    await expect(page.get_by_text("runs.enabled")).to_be_visible()


@pytest.mark.slow
async def test_a_run_that_is_gone_says_so(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/runs?id=never")
    await expect(page.get_by_text("Run not found")).to_be_visible()


@pytest.mark.slow
async def test_the_feed_works_with_a_key(start_site: StartSite, open_window: OpenWindow) -> None:
    key = "a-key-of-sixteen-characters"
    site = await start_site(api_keys=[key])
    window = await open_window(site)
    await window.page.add_init_script(f"sessionStorage.setItem('mnemoirKey', '{key}')")
    page = await window.go("/runs")
    await expect(page.locator("[data-live=yes]")).to_be_attached()
    happen(site, "keyed", a_node("Answer"))
    await expect(page.locator('a[href*="id=keyed"]')).to_be_visible()


@pytest.mark.slow  # test_every_page.py looks at the same pages
async def test_nobody_is_shut_out(tree: Site, open_window: OpenWindow) -> None:
    _, one = await chat(tree)
    _, two = await chat(tree, "And broth?")
    window = await open_window(tree)
    for address, shown in (
        ("/runs", "Runs, newest first"),
        (f"/runs?id={one}", "Workflows and nodes over time"),
        (f"/runs?compare={one},{two}", "Figures of both runs"),
    ):
        page = await window.go(address)
        await expect(page.get_by_label(shown).first).to_be_visible()
        await window.has_no_barrier()
