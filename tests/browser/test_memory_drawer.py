"""The switch of long-term memory, its sign, and the drawer that shows what is known."""

import re
import uuid

import pytest
from playwright.async_api import Page, Request, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.project_kit import ask, begin, learn
from tests.browser_kit import PHONE, WIDE, Look, Site, turn, until

SIGN = "Agent Memory Enabled"
TITLE = "Project Long Term Memory"
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> "
    "[click](javascript:document.title='owned') ![p](https://evil.example/p.png) a\u202egnihton\U000e0041\u200b end"
)


async def open_settings(page: Page) -> None:
    await page.get_by_role("button", name="Project").click()
    await page.get_by_role("menuitem", name="Settings").click()
    await expect(page.get_by_role("dialog", name="Settings")).to_be_visible()


async def open_drawer(page: Page) -> None:
    await page.get_by_role("button", name=SIGN).click()
    await expect(page.get_by_role("dialog", name=TITLE)).to_be_visible()


async def stored(page: Page) -> str | None:
    value: str | None = await page.evaluate("localStorage.getItem('memoryEnabled')")
    return value


def row(page: Page, text: str):
    """The row of a memory."""
    return page.get_by_role("region", name="Memories").get_by_role("listitem").filter(has_text=text)


async def test_memory_is_off_until_it_is_switched_on(site: Site, open_window: OpenWindow) -> None:
    page = await (await open_window(site)).go("/")
    await page.evaluate("window.seen = 0; addEventListener('memoryChanged', () => { window.seen += 1 })")
    await open_settings(page)
    box = page.get_by_role("checkbox", name="Long Term Memory", exact=True)
    await expect(box).not_to_be_checked()
    assert await stored(page) is None
    await turn(box, on=True)
    assert (await stored(page), await page.evaluate("window.seen")) == ("true", 1)
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name=SIGN)).to_be_visible()  # without a reload
    await open_settings(page)
    await turn(box, on=False)
    assert (await stored(page), await page.evaluate("window.seen")) == ("false", 2)
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name=SIGN)).to_have_count(0)


@pytest.mark.slow
async def test_another_tab_follows(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    page = await window.go("/")
    other = await page.context.new_page()
    await other.goto(window.url)
    await expect(other.get_by_role("button", name="Files")).to_be_visible()
    await page.evaluate("localStorage.setItem('memoryEnabled', 'true')")
    await expect(other.get_by_role("button", name=SIGN)).to_be_visible()
    await page.evaluate("localStorage.setItem('memoryEnabled', 'false')")
    await expect(other.get_by_role("button", name=SIGN)).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
async def test_the_sign_is_24_pixels_left_of_the_files(site: Site, open_window: OpenWindow, size) -> None:
    window = await open_window(site, size=size)
    page = await begin(window, "sign", memory=True)
    sign, files = page.get_by_role("button", name=SIGN), page.get_by_role("button", name="Files")
    await expect(sign).to_be_visible()
    await expect(files).to_be_visible()
    for left, right in ((sign, files), (sign.locator("svg"), files.locator("svg"))):
        a, b = await left.bounding_box(), await right.bounding_box()
        assert a
        assert b
        assert (b["x"] - (a["x"] + a["width"]), a["width"], a["height"]) == (24, 24, 24)
        assert a["y"] == b["y"]
    assert await sign.locator("svg").evaluate("svg => getComputedStyle(svg).color") == "rgb(76, 175, 80)"
    await window.is_within()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "width"), [(WIDE, 500), (PHONE, 351)], ids=["wide", "phone"])
async def test_the_drawer_comes_from_the_left_edge(site: Site, open_window: OpenWindow, size, width: int) -> None:
    window = await open_window(site, size=size)
    page = await begin(window, "drawer", memory=True)
    await open_drawer(page)
    dialog = page.get_by_role("dialog", name=TITLE)
    box = await dialog.bounding_box()
    assert box == {"x": 0, "y": 0, "width": width, "height": size[1]}
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("button", name=SIGN)).to_be_focused()
    await open_drawer(page)
    await page.mouse.click(size[0] - 5, 400)  # the backdrop
    await expect(dialog).to_have_count(0)
    await open_drawer(page)
    await dialog.get_by_role("button", name="Close").click()
    await expect(dialog).to_have_count(0)
    await window.is_within()


@pytest.mark.slow
async def test_the_panel_fills_the_height_and_scrolls_inside(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await learn(window, "many", *(f"Fact number {n} of many that are known" for n in range(40)))
    page = await begin(window, "many", memory=True)
    await open_drawer(page)
    region = page.get_by_role("region", name="Memories")
    rows = region.get_by_role("listitem")
    await expect(rows).to_have_count(40)
    assert "number 39" in await rows.first.inner_text()
    assert "number 0 " in await rows.last.inner_text()
    await expect(page.get_by_text("40 memories")).to_be_in_viewport()
    inner, outer = await region.evaluate(
        "each => [each.scrollHeight > each.clientHeight, document.scrollingElement.scrollHeight <= innerHeight]"
    )
    assert (inner, outer) == (True, True)
    foot = await page.get_by_text("40 memories").bounding_box()
    assert foot
    assert foot["y"] > WIDE[1] - 60
    await rows.last.scroll_into_view_if_needed()
    await expect(rows.last).to_be_in_viewport()


@pytest.mark.slow
async def test_memories_are_asked_for_each_time_and_in_another_project(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await learn(window, "one", "Lives in Graz")
    await learn(window, "two", "Lives in Linz")
    page = await begin(window, "one", memory=True)
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/api/memories/user?" in request.url:
            asked.append(request.url.removeprefix(window.url))

    page.on("request", note)
    for _ in range(2):
        async with page.expect_request(lambda request: "/api/memories/user?" in request.url):
            await open_drawer(page)
        await expect(row(page, "Lives in Graz")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
    assert (
        asked == ["/api/memories/user?limit=100&project=one"] * 2
        or asked == ["/api/memories/user?project=one&limit=100"] * 2
    )
    await open_drawer(page)
    other = await page.context.new_page()
    await other.goto(window.url)
    await other.evaluate("localStorage.setItem('mnemoirProject', 'two')")
    await expect(row(page, "Lives in Linz")).to_be_visible()
    await expect(row(page, "Lives in Graz")).to_have_count(0)


@pytest.mark.slow
async def test_a_row_tells_when_and_of_a_change_only_where_there_was_one(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    first, _ = await learn(window, "times", "Drinks tea", "Lives in Graz")
    await ask(window, "PATCH", f"/api/memories/{first}", "times", {"memory": "Drinks green tea"}, user_id="user")
    page = await begin(window, "times", memory=True)
    await open_drawer(page)
    changed, same = row(page, "Drinks green tea"), row(page, "Lives in Graz")
    await expect(changed).to_contain_text(re.compile(r"\d{4}.* · updated .*\d{4}"))
    await expect(same).to_contain_text(re.compile(r"\d{4}"))
    await expect(same).not_to_contain_text("updated")
    assert await same.locator("svg").first.get_attribute("width") == "20"


async def test_a_fact_learned_in_one_chat_is_shown_and_used_in_the_next(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    offline = await start_site({"llm.provider": "offline"})
    window = await open_window(offline)
    page = await begin(window, "lesson", memory=True)
    await page.get_by_role("textbox", name="Message").fill("Hi, I'm Alex. I'm a vegetarian and allergic to nuts.")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("conversation="))
    # its page has taken the place of the new chat's, which a drawer would go with
    await expect(page.get_by_role("heading", level=1)).to_contain_text("I'm Alex")
    # it is learned behind the answer
    await until(
        lambda: ask(window, "GET", "/api/memories/user", "lesson"),
        lambda told: "Allergic to nuts" in [memory["memory"] for memory in told["results"]],
    )
    await open_drawer(page)
    await expect(row(page, "Allergic to nuts")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="New chat").click()
    await expect(page.get_by_role("heading", name="What’s on your mind?")).to_be_visible()
    await page.get_by_role("textbox", name="Message").fill("What should I keep in mind when cooking for me?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Chat")).to_contain_text("Allergic to nuts")


@pytest.mark.slow
async def test_a_memory_is_deleted_and_taken_back(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    ids = await learn(window, "undo", "Drinks tea", "Lives in Graz")
    page = await begin(window, "undo", memory=True)
    await open_drawer(page)
    await row(page, "Drinks tea").get_by_role("button", name="Delete").click()
    await expect(row(page, "Drinks tea")).to_have_count(0)
    await expect(page.get_by_text("1 memory", exact=True)).to_be_visible()
    await page.get_by_role("button", name="Undo", exact=True).click()
    await expect(row(page, "Drinks tea")).to_be_visible()
    kept = await ask(window, "GET", "/api/memories/user", "undo")
    assert {memory["id"] for memory in kept["results"]} == set(ids)


@pytest.mark.slow
async def test_a_memory_is_edited_and_its_history_tells_of_it(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await learn(window, "edit", "Drinks tea")
    page = await begin(window, "edit", memory=True)
    await open_drawer(page)
    await row(page, "Drinks tea").get_by_role("button", name="Edit").click()
    field = page.get_by_role("textbox", name="Memory")
    await expect(field).to_be_focused()
    await page.keyboard.press("Escape")  # leaves the field, not the drawer
    await expect(field).to_have_count(0)
    await row(page, "Drinks tea").get_by_role("button", name="Edit").click()
    await field.fill("Drinks coffee")
    await page.get_by_role("button", name="Save").click()
    await expect(row(page, "Drinks coffee")).to_contain_text("updated")
    await row(page, "Drinks coffee").get_by_role("button", name="History").click()
    changes = page.get_by_role("region", name="Changes, oldest first").get_by_role("listitem")
    await expect(changes).to_have_count(2)
    await expect(changes.last.locator("del")).to_have_text("Drinks tea")
    await expect(changes.last).to_contain_text("Drinks coffee")
    await page.keyboard.press("Escape")
    await expect(changes).to_have_count(0)
    await expect(page.get_by_role("dialog", name=TITLE)).to_be_visible()


@pytest.mark.slow
async def test_a_search_and_the_end_of_everything(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site)
    await learn(window, "forget", "Allergic to nuts", "Lives in Graz")
    page = await begin(window, "forget", memory=True)
    await open_drawer(page)
    await page.get_by_role("searchbox", name="Search memories").fill("nuts")
    await expect(page.get_by_text("found")).to_be_visible()
    await expect(page.get_by_role("region", name="Memories").get_by_role("listitem").first).to_contain_text("nuts")
    await page.get_by_role("button", name="Clear search").click()
    await page.get_by_role("button", name="Delete all memories").click()
    question = page.get_by_role("dialog", name="Delete all memories")
    await expect(question).to_contain_text("This deletes all memories of user in project forget")
    await question.get_by_role("button", name="Cancel").click()
    await expect(row(page, "Lives in Graz")).to_be_visible()
    await expect(page.get_by_role("button", name="Delete all memories")).to_be_focused()
    await page.keyboard.press("Enter")
    sure = question.get_by_role("button", name="Delete all memories")
    await expect(sure).to_be_disabled()
    await question.get_by_label("Type the user").fill("user")
    await sure.click()
    await expect(page.get_by_text("No memories yet")).to_be_visible()
    assert (await ask(window, "GET", "/api/memories/user", "forget"))["total"] == 0


@pytest.mark.slow
async def test_hostile_memories_are_words_and_what_is_hidden_shows(site: Site, open_window: OpenWindow) -> None:
    window = await open_window(site, size=(360, 740))
    await learn(window, "hostile", HOSTILE, "x" * 30_000)
    page = await begin(window, "hostile", memory=True)
    await open_drawer(page)
    mean = row(page, "<script>document.title='owned'</script>")
    await expect(mean).to_be_visible()
    for mark in ("U+202E", "U+E0041", "U+200B"):
        await expect(mean.get_by_text(mark, exact=True)).to_be_visible()
    assert await mean.locator("script, img, a").count() == 0
    assert "owned" not in await page.title()
    await window.is_within()


@pytest.mark.slow
@pytest.mark.parametrize("size", [pytest.param(WIDE, id="wide"), pytest.param(PHONE, id="phone")])
async def test_nobody_is_shut_out(site: Site, open_window: OpenWindow, size) -> None:
    window, project = await open_window(site, size=size), f"axe-{uuid.uuid4().hex}"
    looks: tuple[Look, Look] = (("dark", size), ("light", size))
    (id, *_) = await learn(window, project, "Drinks tea", "Lives in Graz")
    await ask(window, "PATCH", f"/api/memories/{id}", project, {"memory": "Tea"}, user_id="user")
    page = await begin(window, project, memory=True)
    await expect(page.get_by_role("button", name=SIGN)).to_be_visible()
    async for _ in window.looked_at(*looks):
        await window.is_within()
        await window.axe()
        await has_contrast(page)
    await open_drawer(page)
    await expect(row(page, "Lives in Graz")).to_be_visible()
    await window.has_no_barrier(*looks)
    await row(page, "Lives in Graz").get_by_role("button", name="Edit").click()
    await row(page, "Tea").get_by_role("button", name="History").click()
    await expect(page.get_by_role("region", name="Changes, oldest first")).to_be_visible()
    await window.has_no_barrier(*looks)
    await page.keyboard.press("Escape")
    await page.get_by_role("dialog", name=TITLE).get_by_role("button", name="Close").click()
    await open_settings(page)
    await window.has_no_barrier(*looks)


async def has_contrast(page: Page) -> None:
    """The sign stands out as WCAG asks of what is not text, 3 to 1. axe looks at text alone."""
    behind = await page.get_by_role("button", name=SIGN).evaluate("each => getComputedStyle(each).backgroundColor")
    back = luminance([int(part) for part in re.findall(r"\d+", behind)[:3]])
    assert (luminance([0x4C, 0xAF, 0x50]) + 0.05) / (back + 0.05) > 3


def luminance(colour: list[int]) -> float:
    """As WCAG defines it, 0 to 1."""
    parts = [part / 255 for part in colour]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
