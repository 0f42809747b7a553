"""The chat: what is said streams in, can be stopped, said again in other words, and is never lost."""

import re
import uuid
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from playwright.async_api import FilePayload, Locator, Page, Request, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import Site, at_rest, until
from tests.remembering_model import is_extraction
from tests.scripted_llm import Answer, closed_port_url, failure

PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
MOST_FIRST_LOAD = 300 * 1000  # bytes of JavaScript as they are sent
HOSTILE = """<script>window.hit = 1</script><img src=x onerror="window.hit = 2"> **still bold**

[click](javascript:window.hit=3) [data](data:text/html,<script>window.hit=4</script>)

![tracker](https://evil.example/pixel.png)

right \u202eot tfel\u202c and zero\u200bwidth

```html
<script>window.hit = 5</script>
```
"""


@pytest.fixture(scope="module", autouse=True)
def nothing_is_learned(site: Site) -> None:
    """What is asked behind an answer with memory must not take what the next test queues."""
    site.llm.rule(is_extraction, '{"facts": []}')


@pytest.fixture(autouse=True)
def fresh_model(site: Site) -> None:
    site.llm.clear()


def message_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message", exact=True)


def answers(page: Page) -> Locator:
    return page.get_by_role("article", name="Answer")


def questions(page: Page) -> Locator:
    return page.get_by_role("article", name="You said")


async def say(page: Page, text: str) -> None:
    """Nothing is sent while an answer is still coming."""
    await expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    await message_box(page).fill(text)
    await page.keyboard.press("Enter")


async def answered(page: Page, text: str) -> None:
    """The newest answer is complete, and says that."""
    await expect(answers(page).last).to_contain_text(text)
    await expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()


async def a_conversation(site: Site, *texts: str) -> str:
    """The id of a new one, with what a user and an assistant said in turn."""
    name = f"talk-{uuid.uuid4().hex}"
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    async with httpx.AsyncClient(base_url=site.url) as client:
        made = await client.post("/api/conversations", json={"id": name, "messages": messages})
        assert made.status_code == 201, made.text
    return name


async def stored(site: Site, page: Page) -> Sequence[dict[str, Any]]:
    """The messages of the conversation that the page shows."""
    await expect(page).to_have_url(re.compile("conversation="))
    name = re.search(r"conversation=([^&]+)", page.url)
    assert name is not None
    async with httpx.AsyncClient(base_url=site.url) as client:
        found: Sequence[dict[str, Any]] = (await client.get(f"/api/conversations/{name[1]}/messages")).json()[
            "results"
        ]
        return found


# --- saying something


async def test_an_answer_is_seen_before_it_is_complete(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    site.llm.reply("First words, then the rest.", stall_after=1)
    await say(page, "Hello")
    await expect(questions(page)).to_have_text(re.compile("Hello"))
    await expect(answers(page)).to_contain_text("First")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    site.llm.release()
    await answered(page, "First words, then the rest.")
    await expect(page).to_have_url(re.compile(r"\?conversation="))
    assert [one["content"] for one in await stored(site, page)] == ["Hello", "First words, then the rest."]


async def test_a_reload_shows_the_same_conversation_and_it_goes_on(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    await say(page, "Hello")
    await answered(page, "Understood.")
    await page.reload()
    await answered(page, "Understood.")
    await say(page, "And again")
    await expect(answers(page)).to_have_count(2)
    await answered(page, "Understood.")
    shown = [message["content"] for message in site.llm.requests[-1].body["messages"] if message["role"] != "system"]
    assert shown == ["Hello", "Understood.", "And again"]


@pytest.mark.slow
async def test_an_answer_under_way_is_taken_up_after_a_reload(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    site.llm.reply("First words, then the rest.", stall_after=1)
    await say(page, "Hello")
    await expect(answers(page)).to_contain_text("First")
    await page.reload()
    await expect(answers(page)).to_contain_text("First")
    await expect(questions(page)).to_have_count(1)
    site.llm.release()
    await answered(page, "First words, then the rest.")
    shown = [(one["content"], one["finish_reason"]) for one in await stored(site, page)]
    assert shown == [("Hello", None), ("First words, then the rest.", "stop")]


@pytest.mark.slow
async def test_a_second_tab_follows_an_answer_and_stops_it(site: Site, open_window: OpenWindow) -> None:
    address = f"/?conversation={await a_conversation(site, 'one', 'A')}"
    window = await open_window(site)
    left, right = await window.go(address), await window.page.context.new_page()
    await right.goto(f"{site.url}{address}")
    await answered(right, "A")
    site.llm.reply("Half of it and the other half.", stall_after=2)
    await say(left, "Tell me")
    await expect(answers(right).last).to_contain_text("Half")
    await right.get_by_role("button", name="Stop").click()
    for tab in (left, right):
        await answered(tab, "This answer is incomplete.")
        await expect(answers(tab).last).to_contain_text("Half")
        await expect(tab.get_by_role("alert")).to_have_count(0)


@pytest.mark.slow
async def test_markdown_is_laid_out_with_highlighted_code(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    site.llm.reply('# Plan\n\n1. soak\n2. cook\n\n```python\ndef cook():\n    return "dal"\n```\n')
    await say(page, "A plan?")
    await expect(answers(page).get_by_role("heading", name="Plan")).to_be_visible()
    await expect(answers(page).get_by_role("listitem")).to_have_count(2)
    await expect(answers(page).locator(".hljs-keyword").first).to_have_text("def")
    await expect(answers(page).get_by_role("button", name="Copy code")).to_be_visible()
    await window.axe()


@pytest.mark.slow
async def test_the_foot_line_leads_to_the_run(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    await say(page, "Hello")
    await expect(answers(page)).to_contain_text("first token")
    await expect(answers(page)).to_contain_text("0 memories")
    await expect(answers(page)).to_contain_text(re.compile(r"\d+ in, .*\d+ out"))
    await answers(page).get_by_role("link", name=re.compile("Run trace: default")).click()
    await expect(page).to_have_url(re.compile(r"/runs\?id=run_"))


@pytest.mark.slow
async def test_the_memories_of_an_answer_are_listed(site: Site, open_window: OpenWindow) -> None:
    user = f"user-{uuid.uuid4().hex}"
    async with httpx.AsyncClient(base_url=site.url) as client:
        body = {"user_id": user, "messages": [{"role": "user", "content": "Drinks green tea"}], "infer": False}
        made = await client.post("/api/memories", json=body)
        assert made.status_code < 300, made.text
    window = await open_window(site)
    page = await window.go("/")
    await page.evaluate(f"localStorage.memoryEnabled = 'true'; localStorage.mnemoirUser = '{user}'")
    await page.reload()
    await say(page, "Which tea do I drink?")
    await page.get_by_role("button", name="1 memory").click()
    dialog = page.get_by_role("dialog", name="1 memory")
    await expect(dialog.get_by_role("link", name="Drinks green tea")).to_have_attribute(
        "href", re.compile(r"/memories\?id=")
    )
    await window.axe()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()


# --- stopping, failing


async def test_an_answer_that_is_stopped_is_kept_and_marked(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    site.llm.reply("Half of it and the other half.", stall_after=2)
    await say(page, "Tell me")
    await expect(answers(page)).to_contain_text("Half")
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("This answer is incomplete.")).to_be_visible()
    await expect(answers(page)).to_contain_text("Half")
    newest = (await until(lambda: stored(site, page), lambda all: all[-1]["finish_reason"] == "incomplete"))[-1]
    assert (newest["finish_reason"], newest["content"][:4]) == ("incomplete", "Half")
    await say(page, "Go on")
    await answered(page, "Understood.")
    assert (await stored(site, page))[2]["parent_id"] == newest["id"]


async def test_an_error_of_the_model_is_told_in_place_and_retried(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    site.llm.queue(failure(500, "the far model fell over"))
    await say(page, "Hello")
    await expect(page.get_by_role("alert")).to_contain_text("the far model fell over")
    await expect(page.get_by_role("link", name="Open run")).to_have_attribute("href", re.compile("id=run_"))
    await expect(questions(page)).to_have_count(1)
    await window.axe()
    await page.get_by_role("button", name="Try again").click()
    await answered(page, "Understood.")
    await expect(page.get_by_role("alert")).to_have_count(0)
    assert [one["content"] for one in await stored(site, page)] == ["Hello", "Understood."]


@pytest.mark.slow
async def test_the_end_stays_in_sight_when_an_answer_is_stored_stopped_or_fails(
    site: Site, open_window: OpenWindow
) -> None:
    page = await (await open_window(site)).go("/")
    again = page.get_by_role("button", name="Regenerate answer").last
    site.llm.reply("A long answer. " * 300)
    await say(page, "Tell me more")
    await answered(page, "A long answer.")
    await expect(again).to_be_in_viewport()
    site.llm.reply("Half an answer and more. " * 40, stall_after=100)
    await say(page, "And slowly")
    await expect(answers(page).last).to_contain_text("Half an answer and more. Half")
    await page.keyboard.press("Escape")
    await answered(page, "This answer is incomplete.")
    await expect(again).to_be_in_viewport()
    site.llm.queue(failure(500, "the far model fell over"))
    await say(page, "Go on")
    await expect(page.get_by_role("button", name="Try again")).to_be_in_viewport()


@pytest.mark.slow
async def test_an_answer_that_breaks_off_is_shown_as_incomplete_with_its_cause(
    site: Site, open_window: OpenWindow
) -> None:
    page = await (await open_window(site)).go("/")
    site.llm.reply("It begins well and then", cut_after=2)
    await say(page, "Hello")
    await expect(page.get_by_role("alert")).to_be_visible()
    await page.get_by_role("button", name="Try again").click()
    await answered(page, "Understood.")
    await expect(page.get_by_role("group", name="answer 2 of 2")).to_be_visible()
    await page.get_by_role("button", name="Previous answer").click()
    await expect(page.get_by_text("This answer is incomplete.")).to_be_visible()


@pytest.mark.slow
async def test_what_was_typed_survives_a_reload_and_a_server_that_is_gone(
    site: Site, open_window: OpenWindow
) -> None:
    page = await (await open_window(site)).go("/")
    await message_box(page).fill("A long thought")
    # before the page is loaded: a request of one that is there may still go past a new route
    await page.route("**/v1/chat/completions*", lambda route: route.abort())
    await page.reload()
    await expect(message_box(page)).to_have_value("A long thought")
    await message_box(page).press("Enter")
    await expect(page.get_by_role("alert").filter(has_text="not sent")).to_contain_text("The message was not sent")
    await page.get_by_role("button", name="Edit and resend").click()
    await expect(message_box(page)).to_have_value("A long thought")
    await page.unroute("**/v1/chat/completions*")
    await message_box(page).press("Enter")
    await answered(page, "Understood.")
    await page.reload()
    await expect(message_box(page)).to_have_value("")


@pytest.mark.slow
async def test_one_may_look_at_something_else_while_an_answer_comes(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    site.llm.reply("Slow words come in.", stall_after=1)
    await say(page, "Take your time")
    await expect(answers(page)).to_contain_text("Slow")
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Status").click()
    await expect(page).to_have_title(re.compile("Status"))
    await page.go_back()
    await expect(answers(page)).to_contain_text("Slow")
    site.llm.release()
    await answered(page, "Slow words come in.")


@pytest.mark.slow
async def test_a_model_that_is_not_there_is_named(start_site: StartSite, open_window: OpenWindow) -> None:
    alone = await start_site({"llm.base_url": f"{closed_port_url()}/v1"})
    page = await (await open_window(alone)).go("/")
    await say(page, "Is anybody there?")
    await expect(page.get_by_role("alert")).to_contain_text("No answer")
    await expect(questions(page)).to_contain_text("Is anybody there?")


# --- branches


@pytest.mark.slow
async def test_answers_are_regenerated_and_chosen_between(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    for text in ("first", "second"):
        site.llm.reply(f"The {text} answer")
    await say(page, "Hello")
    await answered(page, "The first answer")
    await page.get_by_role("button", name="Regenerate answer").click()
    await answered(page, "The second answer")
    await expect(page.get_by_role("group", name="answer 2 of 2")).to_be_visible()
    await page.get_by_role("button", name="Previous answer").click()
    await answered(page, "The first answer")
    await expect(page.get_by_role("group", name="answer 1 of 2")).to_be_visible()
    await page.get_by_role("button", name="Next answer").click()
    await answered(page, "The second answer")


@pytest.mark.slow
async def test_any_answer_is_regenerated_and_what_followed_stays_on_its_branch(
    site: Site, open_window: OpenWindow
) -> None:
    page = await (await open_window(site)).go(f"/?conversation={await a_conversation(site, 'one', 'A', 'two', 'B')}")
    site.llm.reply("A again")
    await page.get_by_role("button", name="Regenerate answer").first.click()
    await answered(page, "A again")
    await expect(answers(page)).to_have_count(1)
    await page.get_by_role("button", name="Previous answer").click()
    await expect(answers(page)).to_have_count(2)
    await answered(page, "B")


@pytest.mark.slow
async def test_the_first_message_is_edited(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go(f"/?conversation={await a_conversation(site, 'Helo', 'What?')}")
    site.llm.reply("Hello to you")
    await page.get_by_role("button", name="Edit message").click()
    box = page.get_by_role("textbox", name="Edit message")
    await expect(box).to_be_focused()
    await box.fill("Hello")
    await page.keyboard.press("Enter")
    await answered(page, "Hello to you")
    assert [message["content"] for message in site.llm.requests[-1].body["messages"]] == ["Hello"]
    await expect(page.get_by_role("group", name="version 2 of 2")).to_be_visible()
    await page.get_by_role("button", name="Previous version").click()
    await answered(page, "What?")
    await expect(questions(page)).to_contain_text("Helo")


@pytest.mark.slow
async def test_two_tabs_go_on_from_different_branches(site: Site, open_window: OpenWindow) -> None:
    address = f"/?conversation={await a_conversation(site, 'one', 'A')}"
    window = await open_window(site)
    left, right = await window.go(address), await window.page.context.new_page()
    await right.goto(f"{site.url}{address}")
    await answered(right, "A")
    site.llm.queue(Answer(text="To the left, slowly", stall_after=1), Answer(text="To the right"))
    await say(left, "left")
    await expect(answers(right).last).to_contain_text("To")
    site.llm.release()
    await answered(right, "To the left, slowly")
    await right.get_by_role("button", name="Edit message").first.click()
    await expect(right.get_by_role("textbox", name="Edit message")).to_be_focused()
    await right.keyboard.press("Control+A")
    await right.keyboard.type("ONE")
    await right.keyboard.press("Enter")
    await answered(right, "To the right")
    await answered(left, "To the right")
    async with httpx.AsyncClient(base_url=site.url) as client:
        tree = (await client.get(f"/api/conversations/{address[15:]}/messages?view=tree")).json()["results"]
    parents = {one["content"]: one["parent_id"] for one in tree}
    ids = {one["content"]: one["id"] for one in tree}
    assert parents["left"] == ids["A"]
    assert parents["To the left, slowly"] == ids["left"]
    assert (parents["ONE"], parents["To the right"]) == (None, ids["ONE"])


@pytest.mark.slow
async def test_a_tab_goes_on_from_what_was_said_in_another_one(site: Site, open_window: OpenWindow) -> None:
    address = f"/?conversation={await a_conversation(site, 'one', 'A')}"
    window = await open_window(site)
    left, right = await window.go(address), await window.page.context.new_page()
    await right.goto(f"{site.url}{address}")
    await answered(right, "A")
    await say(left, "two")
    await expect(answers(right)).to_have_count(2)
    await say(right, "three")
    await expect(answers(left)).to_have_count(3)
    texts = [one["content"] for one in await stored(site, right)]
    assert texts == ["one", "A", "two", "Understood.", "three", "Understood."]


# --- pictures


@pytest.mark.slow
async def test_a_picture_goes_along_and_is_shown_again(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    await page.get_by_label("Pictures to attach").set_input_files(
        [FilePayload(name=name, mimeType="image/png", buffer=PNG) for name in ("cup.png", "pot.png")]
    )
    await expect(page.get_by_role("img", name="cup.png")).to_be_visible()
    await page.get_by_role("button", name="Remove pot.png").click()
    await say(page, "What is this?")
    await answered(page, "Understood.")
    assert "data:image/png;base64" in site.llm.requests[-1].prompt
    await expect(questions(page).get_by_role("img", name="Attached")).to_have_count(1)
    await page.reload()
    await expect(questions(page).get_by_role("img", name="Attached")).to_be_visible()
    await window.axe()
    site.llm.reply("Once more")
    await page.get_by_role("button", name="Regenerate answer").click()
    await answered(page, "Once more")
    await expect(page.get_by_role("group", name="answer 2 of 2")).to_be_visible()


@pytest.mark.slow
async def test_pictures_are_dropped_and_pasted(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    await expect(message_box(page)).to_be_visible()
    moved = await page.evaluate_handle(
        """bytes => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], 'dropped.png', { type: 'image/png' }));
            return data;
        }""",
        list(PNG),
    )
    await page.get_by_role("region", name="Chat", exact=True).dispatch_event("drop", {"dataTransfer": moved})
    await expect(page.get_by_role("img", name="dropped.png")).to_have_count(1)
    await message_box(page).evaluate(
        "(box, data) => box.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true}))", moved
    )
    await expect(page.get_by_role("img", name="dropped.png")).to_have_count(2)


@pytest.mark.slow
async def test_a_picture_the_server_refuses_is_told_with_its_limit(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    strict = await start_site(max_body_bytes=100_000)
    page = await (await open_window(strict)).go("/")
    large = PNG + bytes(100_000)
    await page.get_by_label("Pictures to attach").set_input_files(
        [FilePayload(name="large.png", mimeType="image/png", buffer=large)]
    )
    await say(page, "Too large?")
    await expect(page.get_by_role("alert")).to_contain_text(re.compile(r"bytes|large", re.IGNORECASE), timeout=30_000)
    await page.get_by_role("button", name="Edit and resend").click()
    await expect(message_box(page)).to_have_value("Too large?")


# --- qualities


async def test_a_hostile_answer_is_inert(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    site.llm.reply(HOSTILE)
    await say(page, HOSTILE)
    await answered(page, "still bold")
    await expect(answers(page).locator("script, img, iframe")).to_have_count(0)
    await expect(answers(page).get_by_text("U+202E")).to_be_visible()
    await expect(questions(page).get_by_text("U+202E")).to_be_visible()
    await expect(answers(page).get_by_role("link", name=re.compile("evil.example"))).to_be_visible()
    links = await page.locator("article a").evaluate_all("links => links.map(link => link.protocol)")
    assert set(links) <= {"http:", "https:"}
    assert await page.evaluate("window.hit") is None
    await window.axe()


@pytest.mark.slow
async def test_a_line_of_a_megabyte_leaves_the_page_usable(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    site.llm.reply("x" * 1_000_000)
    await say(page, "Say something long")
    await expect(page.get_by_role("button", name=re.compile("Show all 1,000,000"))).to_be_visible()
    await window.is_within()
    await say(page, "And now?")
    await answered(page, "Understood.")


@pytest.mark.slow
async def test_two_thousand_messages_scroll(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site(quick_vectors=True)
    talk = await a_conversation(site, *(f"message {n} " + "word " * (n % 90) for n in range(2000)))
    page = await (await open_window(site)).go(f"/?conversation={talk}")
    await expect(page.get_by_text("message 1999")).to_be_in_viewport()
    region = page.get_by_role("region", name="Messages")

    async def at_the_beginning() -> int:
        await region.evaluate("region => region.scrollTo(0, 0)")
        return await region.get_by_text("message 0", exact=True).count()

    assert await until(at_the_beginning)
    await expect(region.get_by_text("message 0", exact=True)).to_be_in_viewport()
    assert await region.get_by_role("article").count() < 60
    await page.get_by_role("button", name="Jump to newest").click()
    await expect(page.get_by_text("message 1999")).to_be_in_viewport()
    await expect(page.get_by_role("button", name="Jump to newest")).to_have_count(0)


@pytest.mark.slow
async def test_a_link_leads_to_a_message_far_up_and_to_one_on_another_branch(
    site: Site, open_window: OpenWindow
) -> None:
    talk = await a_conversation(site, *(f"message {n} " + "word " * 60 for n in range(300)))
    async with httpx.AsyncClient(base_url=f"{site.url}/api/conversations/{talk}") as client:
        left = (await client.get("/messages?limit=0")).json()["results"]
        await client.post("/messages", json={"messages": [{"role": "user", "content": "elsewhere"}], "parent_id": 0})
    page = await (await open_window(site)).go(f"/?conversation={talk}&message={left[7]['id']}")
    region = page.get_by_role("region", name="Messages")
    await expect(region.get_by_text(re.compile("^message 7 "))).to_be_in_viewport()
    await expect(region.locator("[aria-current=true]")).to_contain_text("message 7")


@pytest.mark.slow
async def test_an_answer_that_could_not_be_made_anew_gives_way_to_the_earlier_one(
    site: Site, open_window: OpenWindow
) -> None:
    page = await (await open_window(site)).go(f"/?conversation={await a_conversation(site, 'Hello', 'Hi')}")
    site.llm.queue(failure(500, "not now"))
    await page.get_by_role("button", name="Regenerate answer").click()
    await expect(page.get_by_role("alert")).to_contain_text("not now")
    await page.get_by_role("button", name="Back to the earlier answer").click()
    await answered(page, "Hi")


@pytest.mark.slow
async def test_the_reader_s_place_stays_while_an_answer_grows(site: Site, open_window: OpenWindow) -> None:
    talk = await a_conversation(site, *(f"message {n} " + "word " * 60 for n in range(40)))
    page = await (await open_window(site)).go(f"/?conversation={talk}")
    await expect(page.get_by_text("message 39")).to_be_in_viewport()
    site.llm.reply("\n\n".join(f"paragraph {n}" for n in range(60)), stall_after=4)
    await say(page, "Go on")
    await expect(answers(page).last).to_contain_text("paragraph")
    region = page.get_by_role("region", name="Messages")
    await region.hover()
    await page.mouse.wheel(0, -1500)
    await expect(page.get_by_role("button", name="Jump to newest")).to_be_visible()
    before = await at_rest(region)
    site.llm.release()
    await expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    assert abs(await at_rest(region) - before) < 40
    await page.get_by_role("button", name="Jump to newest").click()
    await expect(page.get_by_text("paragraph 59")).to_be_in_viewport()


@pytest.mark.slow
async def test_a_growing_answer_is_followed(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    site.llm.reply("\n\n".join(f"paragraph {n}" for n in range(80)))
    await say(page, "Go on")
    await expect(page.get_by_text("paragraph 79")).to_be_in_viewport()


@pytest.mark.slow
async def test_all_of_it_works_without_a_mouse(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    await expect(message_box(page)).to_be_focused()
    await page.keyboard.type("First line")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("second line")
    await page.keyboard.press("Enter")
    await answered(page, "Understood.")
    assert (await stored(site, page))[0]["content"] == "First line\nsecond line"
    await expect(message_box(page)).to_be_focused()
    await reach(page, "Regenerate answer", backwards=True)
    site.llm.reply("Another one")
    await page.keyboard.press("Enter")
    await answered(page, "Another one")
    await reach(page, "Previous answer")
    await page.keyboard.press("Enter")
    await answered(page, "Understood.")
    await reach(page, "Edit message", backwards=True)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Edit message")).to_be_focused()
    await page.keyboard.type(", and a third")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("group", name="version 2 of 2")).to_be_visible()


async def reach(page: Page, name: str, *, backwards: bool = False) -> None:
    """Press Tab until a button of that name has the focus."""
    for _ in range(40):
        await page.keyboard.press("Shift+Tab" if backwards else "Tab")
        if await page.evaluate("document.activeElement.getAttribute('aria-label')") == name:
            return
    raise AssertionError(f"{name} is not reached by Tab")


@pytest.mark.slow
async def test_no_barriers(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    await expect(page.get_by_role("heading", name="What’s on your mind?")).to_be_visible()
    await window.has_no_barrier()
    site.llm.reply("A *list*:\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n`code`")
    await say(page, "Hello")
    await answered(page, "A list:")
    await expect(answers(page)).to_contain_text("first token")
    await window.has_no_barrier()


@pytest.mark.slow
async def test_it_fits_the_narrowest_phone(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, size=(360, 640))
    page = await window.go("/")
    site.llm.reply("`" + "x" * 200 + "` and\n\n```\n" + "y" * 200 + "\n```\n\n| " + "z" * 200 + " |\n|---|")
    await say(page, "w" * 300)
    await answered(page, "xxx")
    await window.is_within()


@pytest.mark.slow
async def test_the_first_load_is_small(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, alone=True)
    loaded: list[Request] = []
    window.page.on("requestfinished", lambda request: loaded.append(request))
    page = await window.go("/")
    await expect(message_box(page)).to_be_visible()
    await page.wait_for_load_state("networkidle")
    scripts = [request for request in loaded if request.url.endswith(".js")]
    sizes = [(await request.sizes())["responseBodySize"] for request in scripts]
    assert 0 < sum(sizes) < MOST_FIRST_LOAD, sizes
