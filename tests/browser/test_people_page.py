"""Admins invite and manage people, tenants and keys, and read the audit log; sign-in is turned on in the page."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.sign_in_kit import invited, is_in, joined
from tests.browser_kit import NARROW, PHONE, WIDE, Site


async def told_link(page: Page) -> str:
    """The path of the link that is shown only now, whose dialog is closed."""
    link = await page.get_by_label("The link", exact=True).inner_text()
    await page.get_by_role("button", name="Done").click()
    return "/join" + link.partition("/join")[2]


async def test_an_admin_invites_changes_resets_and_disables_people(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    admin = await open_window(site, alone=True)
    await joined(admin, invited(site, "admin"), "Anna")
    page = await admin.go("/keys")
    await page.get_by_role("button", name="Invite", exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Name", exact=True).fill("Ben")
    await dialog.get_by_role("combobox", name="Memories of").fill("benjamin")
    await admin.has_no_barrier(("light", WIDE), ("dark", NARROW))
    await dialog.get_by_role("button", name="Make the link").click()
    link = await told_link(page)
    invitations = page.get_by_role("region", name="Open invitations")
    await expect(invitations).to_contain_text("Ben")
    await admin.has_no_barrier(("light", WIDE), ("dark", PHONE), ("light", NARROW))

    other = await open_window(site, alone=True)
    await joined(other, link, "Ben")
    page = await admin.go("/keys")
    row = page.get_by_role("row").filter(has_text="Ben")
    await expect(row).to_contain_text("user benjamin")
    await expect(invitations).to_have_count(0)
    await row.get_by_role("button", name="Actions of Ben").click()
    await page.get_by_role("menuitem", name="Change…").click()
    await page.get_by_role("dialog").get_by_role("radio", name="read").check()
    await page.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("read")

    await row.get_by_role("button", name="Actions of Ben").click()
    await page.get_by_role("menuitem", name="Reset sign-in…").click()
    await page.get_by_role("button", name="Make the link").click()
    assert (await told_link(page)).startswith("/join#")
    await row.get_by_role("button", name="Actions of Ben").click()
    await page.get_by_role("menuitem", name="Disable…").click()
    await page.get_by_role("button", name="Disable", exact=True).click()
    await expect(row).to_contain_text("disabled")
    await other.page.reload()
    await expect(other.page.get_by_role("dialog", name="Sign in to Mnemoir")).to_be_visible()

    await page.get_by_role("tab", name="Audit log").click()
    table = page.get_by_role("region", name="Audit log, table")
    await expect(table.get_by_role("row").filter(has_text="users.disable")).to_contain_text("Ben")
    await admin.has_no_barrier(("light", WIDE), ("dark", PHONE), ("light", NARROW))
    await page.get_by_role("combobox", name="Action").fill("invitations.create")
    await page.get_by_role("button", name="Filter").click()
    await expect(table).not_to_contain_text("users.disable")
    await expect(table).to_contain_text("user:Anna")
    await expect(page.get_by_role("tab", name="Tenants")).to_have_count(0)


@pytest.mark.slow
async def test_the_state_of_a_person_is_not_cut_off(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    window = await open_window(site, alone=True, size=PHONE)
    cooks = "everybody who cooks in the kitchen of the house"
    await joined(
        window, invited(site, "admin", memory_user=cooks, is_operator=True), "Anna of the kitchen of the house"
    )
    page = await window.go("/keys")
    state = page.get_by_role("row").get_by_text("active", exact=True)
    await expect(state).to_be_attached()
    assert await state.evaluate("label => label.scrollWidth <= label.clientWidth")


async def test_what_was_kept_before_is_given_to_a_person_and_their_data_held_and_erased(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    admin = await open_window(site, alone=True)
    said = {"user_id": "user", "infer": False, "messages": [{"role": "user", "content": "Plays the cello"}]}
    assert (await admin.page.request.post(f"{site.url}/api/memories", data=said)).ok
    other = await open_window(site, alone=True)
    await joined(admin, invited(site, "admin"), "Anna")
    await joined(other, invited(site), "Ben")
    page = await admin.go("/keys")
    row = page.get_by_role("row").filter(has_text="Ben")

    async def choose(item: str) -> None:
        await row.get_by_role("button", name="Actions of Ben").click()
        await page.get_by_role("menuitem", name=item).click()

    await choose("Give memories…")
    await admin.has_no_barrier(("light", WIDE), ("dark", PHONE))
    await page.get_by_role("button", name="Give", exact=True).click()
    await expect(page.get_by_role("status").filter(has_text="Given: the memories of default.")).to_be_visible()
    await page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    await other.go("/memories")
    await expect(other.page.get_by_text("Plays the cello")).to_be_visible()

    await choose("Hold…")
    await page.get_by_role("textbox", name="Reason").fill("Case 12")
    await admin.has_no_barrier(("light", WIDE), ("dark", PHONE))
    await page.get_by_role("button", name="Hold", exact=True).click()
    await expect(row).to_contain_text("on hold")
    await admin.has_no_barrier(("light", WIDE), ("dark", NARROW))
    await choose("Lift the hold…")
    await page.get_by_role("button", name="Lift the hold", exact=True).click()
    await expect(row).not_to_contain_text("on hold")

    async with page.expect_download() as archive:
        await choose("Export data")
    assert (await archive.value).suggested_filename == "ben.zip"
    await choose("Erase data…")
    await page.get_by_role("textbox", name="Type the name").fill("ben")
    await admin.has_no_barrier(("light", WIDE), ("dark", PHONE))
    await page.get_by_role("button", name="Erase everything").click()
    await expect(page.get_by_role("status").filter(has_text="memories: 1")).to_be_visible()
    await admin.has_no_barrier(("light", WIDE), ("dark", PHONE))
    await expect(row).to_have_count(0)


@pytest.mark.slow
async def test_an_operator_adds_and_suspends_tenants_and_says_how_long_they_keep_things(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    await joined(window, invited(site, "admin", is_operator=True), "Anna")
    page = await window.go("/keys?part=tenants")
    await page.get_by_role("button", name="Add a tenant").click()
    await page.get_by_role("textbox", name="Name").fill("acme")
    await page.get_by_role("button", name="Add", exact=True).click()
    row = page.get_by_role("row").filter(has_text="acme")
    await row.get_by_role("button", name="Suspend: acme").click()
    await page.get_by_role("button", name="Suspend", exact=True).click()
    await expect(row).to_contain_text("suspended")
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE), ("light", NARROW))
    await row.get_by_role("button", name="Resume: acme").click()
    await expect(row).to_contain_text("active")

    await row.get_by_role("button", name="Retention: acme").click()
    await expect(page.get_by_label("History of memories")).to_have_attribute("placeholder", "forever")
    await page.get_by_label("History of memories").fill("36501")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("at most 36500; 0 is for ever")).to_be_visible()
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE), ("light", NARROW))
    await page.get_by_label("History of memories").fill("365")
    await page.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("History of memories: 365 days")
    await page.reload()
    await expect(row).to_contain_text("History of memories: 365 days")
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE), ("light", NARROW))
    tenants = (await (await page.request.get(f"{site.url}/api/tenants")).json())["results"]
    assert {one["name"]: one["retention"] for one in tenants}["acme"] == {"history_days": 365}


async def test_sign_in_is_turned_on_with_the_code_in_the_terminal(
    start_site: StartSite, open_window: OpenWindow, capsys: pytest.CaptureFixture[str]
) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    await window.page.request.get(f"{site.url}/api/tags", headers={"User-Agent": "ollama-python/0.6"})
    page = await window.go("/keys")
    apps = page.get_by_role("region", name="Apps that will need a key")
    await expect(apps).to_contain_text("Python, ollama")
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE), ("light", NARROW))
    await page.get_by_role("button", name="Turn on sign-in…").click()
    await expect(page.get_by_text("The server has printed a code")).to_be_visible()
    found = re.search(r"Code for the first admin.*: (\S+)", capsys.readouterr().err)
    assert found
    await page.get_by_role("textbox", name="Code").fill(found[1])
    await page.get_by_role("button", name="Continue").click()
    await page.get_by_role("textbox", name="Name").fill("Anna")
    await page.get_by_label("Password", exact=True).fill("correct horse battery")
    await page.get_by_role("button", name="Continue with this password").click()
    await page.get_by_role("link", name="Make keys for apps").click()
    await is_in(page, "Anna")
    await page.get_by_role("button", name="Make a key for Python, ollama").click()
    await page.get_by_role("button", name="Make the key").click()
    await expect(page.get_by_text("shown only now")).to_be_visible()
    assert await status_without_key(site, page) == 401


async def status_without_key(site: Site, page: Page) -> int:
    """How the server answers a program now."""
    return (await page.request.get(f"{site.url}/api/tags")).status
