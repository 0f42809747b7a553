"""Keys: made, used, revoked in the page; and what a key for one user sees of it."""

from typing import Any

import pytest
from playwright.async_api import Page, Response, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import NARROW, PHONE, WIDE, Site, Window

FACT = "Mira plays the cello"


async def enter(page: Page, key: str) -> None:
    """Sign in with a key, in the dialog that asks for one."""
    await page.get_by_label("API key").last.fill(key)
    await page.get_by_role("button", name="Continue").click()
    await expect(page.get_by_role("dialog", name="API key")).to_have_count(0)


async def status_of(window: Window, key: str) -> int:
    """How the server answers another program with this key."""
    answer = await window.page.request.get(f"{window.url}/api/me", headers={"Authorization": f"Bearer {key}"})
    return answer.status


def made(site: Site, **rights: Any) -> str:
    """The text of a key that was made on the machine."""
    _, text = site.parts.access.api_keys.create(by="test", **rights)
    return text


async def test_a_key_is_made_used_and_revoked(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    admin = made(site, role="admin", label="Admin")
    window = await open_window(site, alone=True)
    page = await window.go("/keys?part=keys")
    await enter(page, admin)
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE))

    await page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Label").fill("Phone")
    await dialog.get_by_role("combobox", name="User").fill("mira")
    await window.has_no_barrier(("light", NARROW), ("dark", WIDE))
    await dialog.get_by_role("button", name="Make the key").click()
    await expect(dialog.get_by_text("shown only now")).to_be_visible()
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))
    text = await dialog.get_by_label("The new key").inner_text()
    await dialog.get_by_role("button", name="Done").click()
    assert await status_of(window, text) == 200

    row = page.get_by_role("row").filter(has_text="Phone")
    await expect(row).to_contain_text("user mira")
    await row.get_by_role("button", name="Actions of").click()
    await page.get_by_role("menuitem", name="Revoke…").click()
    await page.get_by_role("button", name="Revoke", exact=True).click()
    await expect(row).to_contain_text("revoked")
    assert await status_of(window, text) == 401
    assert await status_of(window, admin) == 200


@pytest.mark.slow
async def test_the_state_of_a_key_is_not_cut_off(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    admin = made(site, role="admin")
    made(site, role="write", label="Tablet beside the cooker", user="everybody who cooks in the kitchen of the house")
    window = await open_window(site, alone=True, size=(1024, 768))
    page = await window.go("/keys?part=keys")
    await enter(page, admin)
    state = page.get_by_role("row").get_by_text("valid", exact=True).first
    assert await state.evaluate("label => label.scrollWidth <= label.clientWidth")


@pytest.mark.slow
async def test_a_key_for_one_user_shows_what_is_theirs_alone(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    admin, own = made(site, role="admin"), made(site, role="write", user="mira")
    window = await open_window(site, alone=True)
    for user, fact in (("mira", FACT), ("noa", "Noa rows on the lake")):
        said = {"user_id": user, "infer": False, "messages": [{"role": "user", "content": fact}]}
        headers = {"Authorization": f"Bearer {admin}"}
        answer = await window.page.request.post(f"{site.url}/api/memories", data=said, headers=headers)
        assert answer.ok
    refused: list[str] = []

    def note(answer: Response) -> None:
        if answer.status == 403:
            refused.append(answer.url)

    window.page.on("response", note)

    page = await window.go("/memories?user=noa")
    await enter(page, own)
    await expect(page.get_by_text(FACT)).to_be_visible()
    await expect(page.get_by_text("Noa rows")).to_have_count(0)
    navigation = page.get_by_role("navigation", name="Pages")
    await expect(navigation.get_by_role("link")).to_have_text(
        ["Chat", "Memories", "Conversations", "Runs", "Connect"]
    )

    await navigation.get_by_role("link", name="Chat").click()
    box = page.get_by_role("textbox", name="Message", exact=True)
    await box.fill("Hello")
    await box.press("Enter")
    await expect(page.get_by_role("article", name="Answer")).to_contain_text("Understood.")
    for name in ("Conversations", "Runs", "Connect"):
        await navigation.get_by_role("link", name=name).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(name)
        await expect(page.get_by_role("alert")).to_have_count(0)
    kept = await window.page.request.get(
        f"{site.url}/api/conversations?user_id=mira", headers={"Authorization": f"Bearer {admin}"}
    )
    assert len((await kept.json())["results"]) == 1
    assert refused == []

    for target in ("/status", "/workflows", "/keys"):
        page = await window.go(target)
        await expect(page.get_by_role("heading", name="Your role does not allow this")).to_be_visible()
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))


@pytest.mark.slow
async def test_who_may_only_see_the_server_begins_there(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    key = made(site, role="operator")
    page = await window.go("/")
    await enter(page, key)
    await expect(page.get_by_role("heading", name="Status", exact=True)).to_be_visible()
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="People and keys").click()
    await page.get_by_role("tab", name="Keys").click()
    await expect(page.get_by_role("row").filter(has_text="in use here")).to_contain_text("operator")
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Connect").click()
    await expect(page.get_by_role("heading", name="Connect", exact=True)).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)
