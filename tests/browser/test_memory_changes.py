"""The log of changes and the review in a real browser, also on a phone and by keyboard."""

import json

import pytest
from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.test_memories_page import ask, opened, remember, told
from tests.browser_kit import PHONE, WIDE, Site


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desk", "phone"])
async def test_a_change_is_undone_and_made_again_from_the_log(
    site: Site, open_window: OpenWindow, size: tuple[int, int]
) -> None:
    user = f"undo-{size[0]}"
    (tea, _) = await remember(site, user, "Likes tea", "Rows")
    await ask(site, "PATCH", f"/api/memories/{tea}?user_id={user}", {"memory": "Likes rum"})
    window = await open_window(site, size=size)
    page = await opened(window, f"/memories?user={user}")
    await page.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Changes").press("Enter")
    entries = page.get_by_role("list", name="Changes").get_by_role("listitem")
    await expect(entries).to_have_count(2)
    await window.has_no_barrier()
    await entries.nth(0).get_by_role("button", name="Undo").press("Enter")
    await expect(entries).to_have_count(3)
    assert sorted(await told(site, user)) == ["Likes tea", "Rows"]
    await expect(entries.nth(1)).to_contain_text("Undone")
    await entries.nth(0).get_by_role("button", name="Redo").click()
    await expect(entries).to_have_count(4)
    assert sorted(await told(site, user)) == ["Likes rum", "Rows"]
    await entries.nth(3).get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("alert")).to_contain_text("later change")
    await page.keyboard.press("Escape")
    await expect(entries).to_have_count(0)


async def test_what_was_learned_is_reviewed_approved_and_then_undone(site: Site, open_window: OpenWindow) -> None:
    here = "user_id=reviewer&project=reviewed"
    await ask(site, "PUT", "/api/memories/settings?project=reviewed", {"review": "all"})
    said = {"messages": [{"role": "user", "content": "I live in Graz. I play the viola."}], "user_id": "reviewer"}
    known = {"memory": "Likes tea", "user_id": "reviewer", "created_at": "2026-01-01T10:00:00Z"}
    await ask(site, "POST", "/api/import?project=reviewed", json.dumps(known).encode())
    site.llm.reply_json({"facts": ["Lives in Graz", "Plays the viola"]})
    await ask(site, "POST", "/api/memories?project=reviewed", said)
    window = await open_window(site, size=PHONE)
    page = await opened(window, "/memories?user=reviewer&project=reviewed")
    await page.get_by_role("button", name="Review (2)").press("Enter")
    waiting = page.get_by_role("list", name="Proposals").get_by_role("listitem")
    await expect(waiting).to_have_count(2)
    await window.has_no_barrier()
    await waiting.filter(has_text="Lives in Graz").get_by_role("button", name="Approve").press("Enter")
    await expect(waiting).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Review (1)")).to_be_focused()
    await expect(page.get_by_text("Lives in Graz")).to_be_visible()
    await page.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Changes").press("Enter")
    await page.get_by_role("button", name="Undo").first.click()
    await expect(page.get_by_role("button", name="Redo")).to_be_visible()
    listed = (await ask(site, "GET", f"/api/memories?{here}"))["results"]
    assert [one["memory"] for one in listed] == ["Likes tea"]


@pytest.mark.slow
async def test_a_project_has_a_retention_of_its_own_until_the_field_is_emptied(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site({"retention.deleted_days": 90})
    settings = "/api/memories/settings?project=kept"
    window = await open_window(site)
    page = window.page

    async def opened_settings() -> Locator:
        await window.go("/memories?user=keeper&project=kept")
        await page.get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Memory settings…").press("Enter")
        return page.get_by_role("dialog", name="Memory settings").get_by_label("Deleted memories", exact=True)

    field = await opened_settings()
    await expect(field).to_have_attribute("placeholder", "90 days")
    await field.fill("36501")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Input should be less than or equal to 36500")).to_be_visible()
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE))
    await field.fill("30")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    field = await opened_settings()
    await expect(field).to_have_value("30 days")
    assert (await ask(site, "GET", settings))["retention"]["own"] == {"deletedDays": 30}
    await field.fill("")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    told = await ask(site, "GET", settings)
    assert (told["retention"]["own"], told["deletedDays"]) == ({}, 90)
