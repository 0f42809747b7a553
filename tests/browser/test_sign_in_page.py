"""People sign in: invited by a link, by password and passkey; what they see; and who manages them."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.async_api import Page, expect

from mnemoir.core.users import Grant
from tests.browser.conftest import OpenWindow, StartSite
from tests.browser_kit import PHONE, WIDE, Site, Window

PASSWORD = "a few words to keep in mind"
WRITER = Grant(tenant="default", role="write")


def invitation(site: Site, name: str, grant: Grant = WRITER) -> str:
    """The token of an invitation that was made on the machine."""
    return site.parts.users.invite(grant, name=name, by="test", lasting=timedelta(days=1))[1]


async def join(window: Window, site: Site, name: str, grant: Grant = WRITER) -> Page:
    """Take an invitation with a password; the chat is open then."""
    page = await window.go(f"/join#{invitation(site, name, grant)}")
    await page.get_by_label("Password", exact=True).last.fill(PASSWORD)
    await page.get_by_role("button", name="Join").click()
    await page.get_by_role("button", name="Go to the chat").click()
    await expect(page.get_by_role("button", name=f"Signed in as {name}")).to_be_visible()
    return page


async def sign_out(page: Page) -> None:
    await page.get_by_role("button", name="Signed in as").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_role("dialog", name="Sign in")).to_be_visible()


@pytest.mark.slow
async def test_an_invited_person_joins_chats_signs_out_and_in_again(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    page = await window.go(f"/join#{invitation(site, 'Anna')}")
    await expect(page.get_by_label("Name")).to_have_value("Anna")
    await expect(page).to_have_url(re.compile("/join$"))  # the token is in no history
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))
    await page.get_by_label("Password", exact=True).last.fill("short")
    await expect(page.get_by_role("button", name="Join")).to_be_disabled()
    await page.get_by_label("Password", exact=True).last.fill(PASSWORD)
    await page.get_by_role("button", name="Join").click()
    await expect(page.get_by_role("list", name="Codes").get_by_role("listitem")).to_have_count(10)
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))
    code = await page.get_by_role("list", name="Codes").get_by_role("listitem").first.inner_text()
    await page.get_by_role("button", name="Go to the chat").click()

    box = page.get_by_role("textbox", name="Message", exact=True)
    await box.fill("Hello")
    await box.press("Enter")
    await expect(page.get_by_role("article", name="Answer")).to_contain_text("Understood.")
    await sign_out(page)
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))

    dialog = page.get_by_role("dialog", name="Sign in")
    await dialog.get_by_label("Name").fill("anna")
    await dialog.get_by_label("Password", exact=True).last.fill("not her password")
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await expect(dialog.get_by_text(re.compile("name|password", re.IGNORECASE)).last).to_be_visible()
    await expect(dialog).to_be_visible()
    await dialog.get_by_role("button", name="Use a recovery code").click()
    await dialog.get_by_label("Recovery code").fill(code)
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("button", name="Signed in as Anna")).to_be_visible()


async def test_a_person_sees_their_own_alone(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    _, key = site.parts.api_keys.create(role="admin", by="test")
    window = await open_window(site, alone=True)
    for user, fact in (("anna", "Anna plays the cello"), ("noa", "Noa rows on the lake")):
        said = {"user_id": user, "infer": False, "messages": [{"role": "user", "content": fact}]}
        sent = await window.page.request.post(
            f"{site.url}/api/memories", data=said, headers={"Authorization": f"Bearer {key}"}
        )
        assert sent.ok
    page = await join(window, site, "Anna", replace(WRITER, memory_user="anna"))
    await page.goto(f"{site.url}/memories?user=noa")
    await expect(page.get_by_text("Anna plays the cello")).to_be_visible()
    await expect(page.get_by_text("Noa rows")).to_have_count(0)
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    await expect(links).to_have_text(["Chat", "Memories", "Conversations", "Runs", "Connect"])


async def test_a_passkey_is_added_and_signs_in(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    window = await open_window(replace(site, url=site.url.replace("127.0.0.1", "localhost")), alone=True)
    devices = await window.page.context.new_cdp_session(window.page)
    await devices.send("WebAuthn.enable")
    device = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    device |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    await devices.send("WebAuthn.addVirtualAuthenticator", {"options": device})

    page = await join(window, site, "Anna")
    await page.get_by_role("button", name="Signed in as").click()
    await page.get_by_role("menuitem", name="My account").click()
    await page.get_by_label("Name of the new passkey").fill("Laptop")
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.get_by_role("row", name="Laptop")).to_be_visible()
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))
    await sign_out(page)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_role("button", name="Signed in as Anna")).to_be_visible()


@pytest.mark.slow
async def test_an_admin_invites_keeps_out_and_reads_the_audit_log(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window, theirs = await open_window(site, alone=True), await open_window(site, alone=True)
    page = await join(window, site, "Mira", replace(WRITER, role="admin", is_operator=True))
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="People and keys").click()
    await expect(page.get_by_role("row", name="Mira")).to_contain_text("admin, operator")
    await page.get_by_role("button", name="Invite somebody").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Noa")
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))
    await dialog.get_by_role("button", name="Make the invitation").click()
    link = await dialog.get_by_label("The link", exact=True).inner_text()
    await dialog.get_by_role("button", name="Done").click()
    await expect(page.get_by_role("region", name="Open invitations").get_by_role("listitem")).to_contain_text("Noa")

    other = await theirs.go(f"/join#{link.partition('#')[2]}")
    await other.get_by_label("Password", exact=True).last.fill(PASSWORD)
    await other.get_by_role("button", name="Join").click()
    await other.get_by_role("button", name="Go to the chat").click()
    await expect(other.get_by_role("button", name="Signed in as Noa")).to_be_visible()

    await page.reload()
    await page.get_by_role("button", name="Actions of Noa").click()
    await page.get_by_role("menuitem", name="Keep them out").click()
    await expect(page.get_by_role("row", name="Noa")).to_contain_text("may not sign in")
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))
    await other.get_by_role("link", name="Memories").click()
    await expect(other.get_by_role("dialog", name="Sign in")).to_be_visible()

    await page.get_by_role("tab", name="Tenants").click()
    await page.get_by_label("New tenant").fill("acme")
    await page.get_by_role("button", name="Add").click()
    await expect(page.get_by_role("row", name="acme")).to_be_visible()
    await page.get_by_role("tab", name="Audit log").click()
    await expect(page.get_by_role("row").filter(has_text="users.disable")).to_contain_text("Mira")
    await window.has_no_barrier(("light", PHONE), ("dark", WIDE))


@pytest.mark.slow
async def test_sign_in_is_turned_on_by_a_code_of_the_terminal(
    start_site: StartSite, open_window: OpenWindow, capfd: pytest.CaptureFixture[str]
) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    page = await window.go("/keys")
    await page.get_by_role("button", name="Turn on sign-in").click()
    await expect(page.get_by_text("stands in the terminal")).to_be_visible()
    code = re.search(r"Code for the first admin[^:]*: (\S+)", capfd.readouterr().err)
    assert code is not None
    await page.get_by_role("link", name="Enter the code").click()
    await page.get_by_label("Code").fill(code[1])
    await page.get_by_role("button", name="Continue").click()
    await page.get_by_label("Name").fill("Mira")
    await page.get_by_label("Password", exact=True).last.fill(PASSWORD)
    await page.get_by_role("button", name="Join").click()
    await page.get_by_role("button", name="Go to the chat").click()
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="People and keys").click()
    await expect(page.get_by_role("row", name="Mira")).to_contain_text("admin, operator")
