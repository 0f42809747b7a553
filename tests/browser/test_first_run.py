"""The first minutes in a new browser: memory is offered, and what was learned is shown where it was said."""

from collections.abc import Sequence

from playwright.async_api import expect

from tests.browser.conftest import OpenWindow, StartSite, each_look
from tests.browser_kit import NARROW, PHONE, WIDE, Look

FIRST = "I am a vegetarian and allergic to nuts. Please remember that."


async def test_a_new_visitor_chooses_tells_sees_what_was_learned_and_undoes_it(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site({"llm.provider": "offline"})
    window = await open_window(site)
    page = await window.go("/")
    await page.get_by_role("button", name="Remember what I say").click()
    assert await page.evaluate("[localStorage.memoryAsked, localStorage.memoryEnabled]") == ["true", "true"]
    await page.get_by_role("button", name=FIRST).click()
    await page.get_by_role("button", name="Send").click()
    answer = page.get_by_role("article", name="Answer")
    await expect(answer).to_contain_text("I will remember: Is vegetarian · Allergic to nuts")
    await expect(answer).to_contain_text("Learned: Is vegetarian · Allergic to nuts")
    await page.reload()
    await expect(answer).to_contain_text("Learned: Is vegetarian · Allergic to nuts")
    await answer.get_by_role("button", name="Undo").click()
    await expect(answer).to_contain_text("Undone: nothing from this message is remembered.")
    await page.reload()
    await expect(answer.get_by_role("button", name="Learn it again")).to_be_visible()
    await window.axe()


@each_look
async def test_the_offer_and_the_sign_of_memory_that_is_off_can_be_read_and_used(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    window = await open_window(await start_site({"llm.provider": "offline"}))
    page = await window.go("/")
    await expect(page.get_by_role("button", name="Not now")).to_be_visible()
    looks: Sequence[Look] = (("light", NARROW), ("dark", PHONE), ("light", WIDE), ("dark", WIDE))
    await window.has_no_barrier(*looks)
    await page.get_by_role("button", name="Memory is off").click()
    await expect(page.get_by_role("button", name="Turn on memory")).to_be_focused()
    await window.has_no_barrier(*looks)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Agent Memory Enabled")).to_be_focused()
