"""The part of the walk where people sign in: the first one, one who is invited and may only read, and both again."""

import re
from collections.abc import Callable
from datetime import timedelta

from playwright.async_api import expect

from mnemoir.core.clock import utc_now
from tests.browser.sign_in_kit import PASSWORD, at_localhost, invited, is_in, joined, sign_in, sign_out
from tests.browser.walk import Walk, settled
from tests.browser.ways import WAYS_OF_ADMINS
from tests.browser_kit import Site

FIRST, READER = "Anna", "Ben"
PARTS = ("/keys", "/keys?part=keys", "/keys?part=tenants", "/keys?part=usage", "/keys?part=audit", "/account")


async def look_at_people(walk: Walk, site: Site, printed: Callable[[], str]) -> None:
    """Turn sign-in on, on a server that nobody signs in to; `printed` tells what stands in its terminal."""
    walk.window.url = at_localhost(site).url  # where there are passkeys
    await _look_at_the_first(walk, printed)
    link = invited(site, "read", memory_user="ben")
    await _look_at_the_invited(walk, link)
    await _look_at_signing_in(walk)
    page = await walk.window.go("/join#used")
    await expect(page.get_by_role("heading", name="This link cannot be used")).to_be_visible()
    await walk.look_around("people: a link that was used")
    for target in PARTS:
        await settled(walk.window, target)
        await walk.look_around(f"people: {target}")
    for way in WAYS_OF_ADMINS:
        await walk.look_into(way)
    await _look_at_the_question_who_it_is(walk, site)


async def _look_at_the_first(walk: Walk, printed: Callable[[], str]) -> None:
    page = await walk.window.go("/keys")
    await page.get_by_role("button", name="Turn on sign-in…").click()
    await page.get_by_role("textbox", name="Code").fill("not-the-code")
    await page.get_by_role("button", name="Continue").click()
    await expect(page.get_by_text("That code does not match")).to_be_visible()
    await walk.look_around("people: a wrong code of the terminal")
    found = re.search(r"Code for the first admin.*: (\S+)", printed())
    assert found
    await page.get_by_role("textbox", name="Code").fill(found[1])
    await page.get_by_role("button", name="Continue").click()
    await page.get_by_role("textbox", name="Name").fill(FIRST)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await walk.look_around("people: the first joins")
    await page.get_by_role("button", name="Continue with this password").click()
    await expect(page.get_by_role("list", name="Recovery codes").get_by_role("listitem")).to_have_count(10)
    await walk.look_around("people: recovery codes")
    await page.get_by_role("link", name="I have saved them").click()
    await is_in(page, FIRST)


async def _look_at_the_invited(walk: Walk, link: str) -> None:
    page = await walk.window.go(link)
    await expect(page.get_by_text("with the memories of ben")).to_be_visible()
    await walk.look_around("people: an invitation")
    await joined(walk.window, link, READER)
    for target in ("/status", "/keys"):
        await settled(walk.window, target)
        await expect(page.get_by_text("Your role does not allow this")).to_be_visible()
        await walk.look_around(f"people: no right to see {target}")


async def _look_at_signing_in(walk: Walk) -> None:
    page = walk.page
    await sign_out(page, READER)
    await walk.look_around("people: sign in")
    await page.get_by_role("button", name="Use a recovery code").click()
    await walk.look_around("people: sign in by a recovery code")
    await page.get_by_role("button", name="Sign in with name and password").click()
    await page.get_by_role("button", name="Use an API key instead").click()
    await walk.look_around("people: sign in by a key")
    await page.get_by_role("button", name="Sign in with name and password").click()
    await sign_in(page, FIRST, "not the password")
    await expect(page.get_by_text("The name, password, code or passkey is wrong")).to_be_visible()
    await walk.look_around("people: a wrong password")
    await sign_in(page, FIRST)
    await is_in(page, FIRST)


async def _look_at_the_question_who_it_is(walk: Walk, site: Site) -> None:
    late = utc_now() + timedelta(minutes=11)
    site.parts.access.sessions._clock = lambda: late  # ten minutes are too long for a test
    page = await settled(walk.window, "/account")
    await page.get_by_label("New password", exact=True).fill("another long password")
    await page.get_by_role("button", name="Change the password").click()
    await expect(page.get_by_role("dialog", name="Is it you?")).to_be_visible()
    await walk.look_around("people: is it you?")
