"""The Workflows page: the tree, a workflow as a graph beside its JSON, what is wrong with it, and trying it."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from urllib.parse import urlencode

import pytest
import pytest_asyncio
from playwright.async_api import FilePayload, Locator, Page, Response, TimeoutError, expect

from mnemoir.workflows.starter import StarterServer, starter_files
from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.reachable import tab_through
from tests.browser_kit import NARROW, PHONE, WIDE, Site, turn, until
from tests.scripted_llm import ScriptedLLM, failure
from tests.workflows.nodes.pictures import png

USERS = ["single-model", "sub-workflows", "prompt-routing"]
SUB = "Workflows/sub-workflows/Chat.json"
BROKEN = "Workflows/single-model/Broken.json"
HOSTILE = '<img src=x onerror="alert(1)"> \u202egpj'
SECRET = "canary-2718281828"
BEHIND = [
    {"title": "Plan", "type": "Standard", "endpointName": "first-model", "prompt": "Plan it."},
    {"title": HOSTILE, "type": "Standard", "endpointName": "first-model", "prompt": "", "returnToUser": True},
    {"title": "Log it", "type": "Standard", "endpointName": "first-model", "prompt": "Log {agent1Output}"},
]
FILES: Mapping[str, object] = {
    BROKEN: [{"type": "Standrad", "endpointName": "first-modle", "prompt": "{nobody}"}],
    "Workflows/single-model/Behind.json": BEHIND,
    f"Workflows/single-model/{HOSTILE.replace('/', '')}.json": BEHIND,
    "Endpoints/Secret.json": {"endpoint": f"http://ann:{SECRET}@far", "apiKey": SECRET, "headers": {"X-Any": SECRET}},
    **{f"Presets/Many/preset-{number}.json": {"temperature": 1} for number in range(2000)},
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def far_llm() -> AsyncIterator[ScriptedLLM]:
    """The model of the tree's endpoints."""
    async with ScriptedLLM() as llm:
        yield llm


@pytest.fixture(autouse=True)
def nothing_is_queued(far_llm: ScriptedLLM) -> None:
    """What one test queued or released is over for the next."""
    far_llm.clear()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def tree(start_site: StartSite, tmp_path_factory: pytest.TempPathFactory, far_llm: ScriptedLLM) -> Site:
    """A server of the tree that `mnemoir init` writes, with some files of ours."""
    public = tmp_path_factory.mktemp("tree")
    server = StarterServer(url=far_llm.openai_url, model="far-model", api_type="Open-AI-API")
    for path, content in starter_files(server).items():
        put(public / path, content)
    for path, made in FILES.items():
        put(public / "Configs" / path, json.dumps(made, indent=2).encode())
    put(public / "Configs/Workflows/single-model/NoJson.json", b'[\n  {"title": "x",}\n]')
    return await start_site({"workflows.config_dir": str(public), "workflows.users": USERS})


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def text_of(path: Path) -> str:
    return path.read_text()


def at(file: str, **more: str) -> str:
    """The address of a file."""
    return f"/workflows?{urlencode({'file': file, **more})}"


def json_editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^JSON of"))


async def type_into_editor(page: Page, text: str) -> None:
    """Put the text in place of all there is."""
    await json_editor(page).click()
    await page.keyboard.press("Control+a")
    await page.keyboard.press("Delete")
    await page.keyboard.insert_text(text)


async def pick(page: Page, name: str | re.Pattern[str], written: str) -> None:
    """Click a completion until it is written: a click gets lost where the editor puts a newer list in its place."""
    option = page.get_by_role("option", name=name)

    async def text_after_a_click() -> str:
        with contextlib.suppress(TimeoutError):
            await option.click(timeout=2000)
        return await json_editor(page).inner_text()

    assert written in await until(text_after_a_click, lambda text: written in text)


@pytest.mark.slow
async def test_of_thousands_of_files_those_in_sight_are_in_the_page(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go("/workflows")
    await page.get_by_role("textbox", name="Find a file").fill("preset-")
    rows = page.get_by_role("list", name="Files").get_by_role("listitem")
    await expect(rows.first).to_be_visible()
    assert await rows.count() < 100
    await page.get_by_role("group", name="Files").evaluate("list => list.scrollTo(0, list.scrollHeight)")
    await expect(page.get_by_role("link", name="preset-999", exact=True)).to_be_visible()


@pytest.mark.slow
async def test_a_graph_shows_steps_what_they_run_and_what_they_read(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at(SUB))
    await expect(page.get_by_role("button", name=re.compile(r"Step \d"))).to_have_count(5)
    fourth = page.get_by_role("button", name=re.compile("Step 4"))
    await expect(fourth).to_contain_text("answers")
    await expect(fourth).to_contain_text("reads the output of step 1, 2")
    await expect(page.locator(".react-flow__edge")).to_have_count(10)  # 4 of the flow, 2 of reading, 4 of running
    await page.get_by_role("link", name=re.compile("Open workflow .*Answer-Question")).click()
    await expect(page.get_by_role("heading", name="sub-workflows / Answer-Question")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("heading", name="sub-workflows / Chat")).to_be_visible()


@pytest.mark.slow
async def test_steps_say_in_words_what_the_graph_shows(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at("Workflows/single-model/Behind.json"))
    await page.get_by_text("Steps", exact=True).click()
    steps = page.get_by_role("list", name=re.compile("Steps of")).get_by_role("listitem")
    await expect(steps).to_have_count(3)
    await expect(steps.nth(1)).to_contain_text("answers")
    await expect(steps.nth(2)).to_contain_text("after the answer")
    await expect(steps.nth(2)).to_contain_text("{agent1Output}")
    await page.get_by_role("link", name="first-model (far-model)").first.click()
    await expect(page.get_by_role("heading", name="Endpoints / first-model")).to_be_visible()


@pytest.mark.slow
async def test_a_step_leads_to_its_json_and_back(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at(SUB))
    await page.get_by_role("button", name=re.compile("Step 2")).click()
    await expect(
        page.locator(".cm-placeLine", has_text='"title": "Key points, by a shared workflow"')
    ).to_be_visible()
    await expect(page.locator("[aria-current=step]")).to_contain_text("Key points")
    title = page.get_by_text('"What kind of message is it?"')
    await title.hover()  # scrolls there, which the editor must see before the click
    await title.click()
    await expect(page.locator("[aria-current=step]")).to_contain_text("What kind of message is it?")
    await expect(page).to_have_url(re.compile(r"at=%24\.nodes%5B0%5D\.title"))


@pytest.mark.slow
async def test_the_editor_completes_from_the_schema_and_from_the_tree(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at(SUB))
    await type_into_editor(page, '[{"type": "CustomWorkflow", ')
    await page.keyboard.type('"workflowN')
    await pick(page, re.compile("^workflowName"), '"workflowName": ')
    await page.keyboard.press("Control+Space")  # values are offered without it, but not on every busy machine
    await pick(page, "Do-Task", '"workflowName": "Do-Task"')


@pytest.mark.slow
async def test_the_editor_explains_and_checks_as_one_types(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at(SUB))
    await type_into_editor(page, '[{"type": "Standard", "endpointName": 7}]')
    await expect(page.locator(".cm-lintRange-error")).to_have_text("7")
    await page.locator(".cm-lintRange-error").hover()
    await expect(page.locator(".cm-tooltip")).to_contain_text("to be of type")
    await page.mouse.move(0, 0)
    await page.get_by_text('"endpointName"').hover()
    await expect(page.locator(".cm-explained")).to_contain_text("A file in Endpoints/.")
    await type_into_editor(page, "[{]")
    await expect(page.locator(".cm-lint-marker-error")).to_be_visible()


@pytest.mark.slow
async def test_what_is_typed_is_kept_for_the_moment_and_never_stored(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at(SUB))
    await type_into_editor(page, "[]")
    await expect(page.get_by_text("Not saved: copy or download")).to_contain_text("workflows.edit: true")
    await page.get_by_role("link", name="Do-Task").first.click()
    await page.get_by_role("heading", name="sub-workflows / Do-Task").wait_for()
    await page.go_back()
    editor = json_editor(page)
    await expect(editor).to_have_text("[]")
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Download").click()
    assert text_of(await (await downloading.value).path()) == "[]"
    await page.get_by_role("button", name="Discard").click()
    await expect(editor).to_contain_text("What kind of message is it?")


async def test_an_edit_is_tried_compared_saved_and_answers_the_next_message(
    start_site: StartSite, open_window: OpenWindow, tmp_path: Path
) -> None:
    for path, content in starter_files(StarterServer()).items():
        put(tmp_path / path, content)
    settings = {"workflows.config_dir": str(tmp_path), "workflows.users": USERS[:1], "workflows.edit": True}
    site = await start_site(settings)
    window = await open_window(site)
    page = await window.go(at("Workflows/single-model/Chat.json", view="try"))
    await type_into_editor(page, '[{"title": "Say", "type": "StaticResponse", "content": "As it was typed."}]')
    panel = page.get_by_role("region", name="Try it")
    await panel.get_by_role("textbox", name="Message").fill("Hello")
    await panel.get_by_role("button", name="Run").click()
    await expect(panel).to_contain_text("As it was typed.")
    await page.get_by_role("button", name="Save…").click()
    dialog = page.get_by_role("dialog", name="Save the workflow")
    await expect(dialog.locator(".cm-deletedChunk").first).to_contain_text("Recall relevant memories")
    await expect(dialog.locator(".cm-changedLine")).to_contain_text("As it was typed.")
    await window.axe()
    await dialog.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_text("Saved. Used from the next message on.")).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("Step 1"))).to_contain_text("Say")
    await expect(page.get_by_role("button", name="Earlier version…")).to_be_visible()
    assert await answer_of(page, "single-model") == "As it was typed."


async def answer_of(page: Page, model: str) -> str:
    """The answer to a chat that the page sends."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}]})
    answer = await page.evaluate(
        f"fetch('/v1/chat/completions', {{method: 'POST', body: {body!r}}}).then(a => a.json())"
    )
    return str(answer["choices"][0]["message"]["content"])


@pytest.mark.slow
async def test_problems_are_counted_in_the_tree_and_lead_to_their_place(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go("/workflows")
    await expect(page.get_by_role("button", name=re.compile("^single-model"))).to_contain_text("2")
    await page.get_by_role("tab", name="Problems").click()
    problems = page.get_by_role("region", name="Problems")
    await expect(problems).to_contain_text("There is no node type 'Standrad'")
    await problems.get_by_role("link", name=re.compile(r"Broken.json \$\[0\]\.endpointName")).click()
    await expect(page.locator(".cm-placeLine")).to_have_text('"endpointName": "first-modle",')
    await expect(page.locator(".cm-lintRange-error").first).to_have_text('"first-modle"')
    await turn(page.get_by_role("checkbox", name="Only this file"), on=True)
    await expect(problems).not_to_contain_text("NoJson.json")


@pytest.mark.slow
async def test_a_file_that_is_no_json_is_shown_and_told(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at("Workflows/single-model/NoJson.json"))
    await expect(page.get_by_text("This workflow cannot be drawn")).to_be_visible()
    await expect(page.locator(".cm-lint-marker-error")).to_be_visible()


async def test_no_secret_reaches_the_browser(tree: Site, open_window: OpenWindow) -> None:
    window = await open_window(tree)
    answers: list[str] = []

    async def keep(response: Response) -> None:
        if "/api/" in response.url:
            answers.append(await response.text())

    window.page.on("response", keep)
    page = await window.go(at("Endpoints/Secret.json", view="problems"))
    await expect(page.get_by_text("secrets hidden")).to_be_visible()
    await expect(json_editor(page)).to_contain_text("[secret]")
    await page.wait_for_load_state("networkidle")
    assert await until(lambda: asyncio.sleep(0, len(answers)), lambda kept: kept >= 3) >= 3
    assert not [answer for answer in answers if SECRET in answer]


@pytest.mark.slow
async def test_names_of_any_letters_harm_nothing(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go("/workflows")
    await page.get_by_role("textbox", name="Find a file").fill("onerror")
    await page.get_by_role("link", name=re.compile("onerror")).click()
    await expect(page.get_by_role("heading", name=re.compile("onerror"))).to_contain_text("U+202E")
    await expect(page.get_by_role("button", name=re.compile("Step 2"))).to_contain_text("<img")
    await page.goto(f"{tree.url}{at('../../etc/passwd')}")
    await expect(page.get_by_text("No such file")).to_be_visible()


@pytest.mark.slow
async def test_a_workflow_is_tried_on_a_message(tree: Site, far_llm: ScriptedLLM, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at("Workflows/single-model/Chat.json", view="try"))
    far_llm.reply("Boil *two* litres.", stall_after=1)
    panel = page.get_by_role("region", name="Try it")
    await panel.get_by_role("textbox", name="Message").fill("How much water?")
    await panel.get_by_role("button", name="Run").click()
    await expect(panel.get_by_role("button", name="Stop")).to_be_visible()
    await expect(panel).to_contain_text("Boil")  # while it still streams
    far_llm.release()
    await expect(panel.get_by_role("table").get_by_role("row")).to_have_count(2)
    await expect(panel).to_contain_text("finished")
    await expect(panel.get_by_role("link", name="Open run")).to_have_attribute("href", re.compile("/runs\\?id=run_"))
    kept = await page.evaluate("fetch('/api/conversations?user_id=user').then(answer => answer.json())")
    assert kept["results"] == []


@pytest.mark.slow
async def test_a_trial_that_fails_says_why(tree: Site, far_llm: ScriptedLLM, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at("Workflows/single-model/Chat.json", view="try"))
    far_llm.queue(failure(400, "the cable is cut"))
    panel = page.get_by_role("region", name="Try it")
    await panel.get_by_role("textbox", name="Message").fill("How much water?")
    await panel.get_by_role("button", name="Run").click()
    await expect(panel.get_by_role("alert")).to_contain_text("the cable is cut")
    await expect(panel.get_by_role("link", name="Open run")).to_be_visible()


@pytest.mark.slow
async def test_a_trial_that_is_stopped_ends_and_does_not_begin_again(
    tree: Site, far_llm: ScriptedLLM, open_window: OpenWindow
) -> None:
    page = await (await open_window(tree)).go(at("Workflows/single-model/Chat.json", view="try"))
    far_llm.clear()
    far_llm.reply("Boil two litres.", stall_after=1)
    panel = page.get_by_role("region", name="Try it")
    await panel.get_by_role("textbox", name="Message").fill("How much water?")
    await panel.get_by_role("button", name="Run").click()
    await expect(panel).to_contain_text("Boil")
    await expect(panel.get_by_role("link", name="Open run")).to_be_visible()  # while it still streams
    await panel.get_by_role("button", name="Stop").click()
    await expect(panel).to_contain_text("Stopped.")
    await expect(panel.get_by_role("button", name="Run")).to_be_focused()
    await expect(panel).to_contain_text("cancelled")
    assert len(far_llm.requests) == 1


@pytest.mark.slow
async def test_a_trial_goes_on_behind_another_tab_of_a_phone(
    tree: Site, far_llm: ScriptedLLM, open_window: OpenWindow
) -> None:
    page = await (await open_window(tree, size=PHONE)).go(at("Workflows/single-model/Chat.json", view="try"))
    far_llm.reply("Boil two litres.", stall_after=1)
    await page.get_by_role("textbox", name="Message").fill("How much water?")
    await page.get_by_role("button", name="Run").click()
    await expect(page.get_by_role("region", name="Try it")).to_contain_text("Boil")
    await page.get_by_role("tab", name="JSON").click()
    await expect(page.get_by_role("textbox", name="Message")).to_have_count(0)
    far_llm.release()
    await page.get_by_role("tab", name="Try it").click()
    await expect(page.get_by_role("textbox", name="Message")).to_have_value("How much water?")
    await expect(page.get_by_role("region", name="Try it")).to_contain_text("Boil two litres.")


@pytest.mark.slow
async def test_pictures_go_along_with_a_trial(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at("Workflows/single-model/Chat.json", view="try"))
    panel = page.get_by_role("region", name="Try it")
    await panel.get_by_role("textbox", name="Message").fill("What is this?")
    picture = FilePayload(name="dot.png", mimeType="image/png", buffer=png(1, 1))
    await panel.locator("input[type=file]").set_input_files(picture)
    await expect(panel).to_contain_text("dot.png")
    async with page.expect_request("**/v1/chat/completions*") as asked:
        await panel.get_by_role("button", name="Run").click()
    body = (await asked.value).post_data_json
    assert body is not None
    content = body["messages"][0]["content"]
    assert content[0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert content[1] == {"type": "text", "text": "What is this?"}
    await expect(panel).to_contain_text("finished")


@pytest.mark.slow
async def test_without_a_tree_the_built_in_workflow_is_shown(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/workflows")
    await expect(page.get_by_role("button", name=re.compile(r"Step \d"))).to_have_count(3)
    await expect(page.get_by_text("Built-in")).to_be_visible()
    await expect(json_editor(page)).to_contain_text('"Remember"')


@pytest.mark.slow
async def test_every_control_is_reached_by_tab_and_shows_it(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at(SUB))
    await page.get_by_role("button", name=re.compile("Step 3")).wait_for()
    await page.locator(".cm-content").wait_for()
    walk = await tab_through(page)
    assert (walk.unseen, walk.missed) == ([], [])


@pytest.mark.slow
async def test_steps_are_opened_and_the_editor_is_left_by_keys(tree: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(tree)).go(at(SUB))
    await page.get_by_role("button", name=re.compile("Step 2")).focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".cm-placeLine").first).to_be_visible()
    await json_editor(page).focus()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("tab", name="Problems")).to_be_focused()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["", "json", "problems", "try"])
async def test_there_is_no_barrier(tree: Site, open_window: OpenWindow, view: str) -> None:
    window = await open_window(tree)
    page = await window.go(at(BROKEN, view=view, at="$[0].endpointName"))
    await expect(page.get_by_role("tab", name="Problems")).to_contain_text("4")
    async for _, size in window.looked_at():
        if size == WIDE or view == "json":
            await page.locator(".cm-lint-marker").first.wait_for()
        await window.axe()
        await window.is_within()


@pytest.mark.slow
async def test_on_a_phone_the_files_are_in_a_drawer(tree: Site, open_window: OpenWindow) -> None:
    window = await open_window(tree, size=NARROW)
    page = await window.go(at(SUB))
    await page.get_by_role("button", name="What kind of message is it?").click()
    await expect(page.locator(".cm-placeLine").first).to_be_visible()
    await page.get_by_role("button", name="Files").click()
    drawer = page.get_by_role("dialog", name="Files")
    await drawer.get_by_role("textbox", name="Find a file").fill("with-memory")
    await window.axe()
    await drawer.get_by_role("link", name="Chat").click()
    await expect(drawer).to_be_hidden()
    await expect(page.get_by_role("heading", name="with-memory / Chat")).to_be_visible()
    await window.is_within()
