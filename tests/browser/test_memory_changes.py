"""The log of changes in a real browser: a change is undone and made again there, also on a phone and by keyboard."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.test_memories_page import ask, opened, remember, told
from tests.browser_kit import PHONE, WIDE, Site


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
    await expect(entries.nth(1)).to_contain_text("Taken back")
    await entries.nth(0).get_by_role("button", name="Redo").click()
    await expect(entries).to_have_count(4)
    assert sorted(await told(site, user)) == ["Likes rum", "Rows"]
    await entries.nth(3).get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("alert")).to_contain_text("later change")
    await page.keyboard.press("Escape")
    await expect(entries).to_have_count(0)
