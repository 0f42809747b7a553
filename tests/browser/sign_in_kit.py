"""People in the browser: an address at which passkeys work, invitations, and joining with a password."""

from dataclasses import replace
from typing import Any

from playwright.async_api import Page, expect

from mnemoir.core.scope import Role
from mnemoir.core.users import Grant
from tests.browser_kit import Site, Window

PASSWORD = "correct horse battery"


def at_localhost(site: Site) -> Site:
    """The same server by the name at which browsers make passkeys without https."""
    return replace(site, url=site.url.replace("127.0.0.1", "localhost"))


def invited(site: Site, role: Role = "write", **granted: Any) -> str:
    """The path of the link of a new invitation."""
    _, token = site.parts.access.users.invite(Grant(role=role, **granted), by="test")
    return f"/join#{token}"


async def joined(window: Window, link: str, name: str) -> list[str]:
    """Join with a password, and go on to the chat; the recovery codes."""
    page = await window.go(link)
    await page.get_by_role("textbox", name="Name").fill(name)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Continue with this password").click()
    codes = page.get_by_role("list", name="Recovery codes").get_by_role("listitem")
    await expect(codes).to_have_count(10)
    told = await codes.all_inner_texts()
    await page.get_by_role("link", name="I have saved them").click()
    await is_in(page, name)
    return told


async def is_in(page: Page, name: str) -> None:
    """Somebody of that name is signed in, and nothing asks for more."""
    await expect(page.get_by_role("button", name=f"Account of {name}")).to_be_visible()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def sign_out(page: Page, name: str) -> None:
    """Sign out by the menu in the header."""
    await page.get_by_role("button", name=f"Account of {name}").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_role("dialog", name="Sign in to Mnemoir")).to_be_visible()


async def sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    """Fill in the dialog and send it, whatever comes of it."""
    dialog = page.get_by_role("dialog", name="Sign in to Mnemoir")
    await dialog.get_by_role("textbox", name="Name").fill(name)
    await dialog.get_by_label("Password", exact=True).fill(password)
    await dialog.get_by_role("button", name="Sign in", exact=True).click()
