"""People join by an invitation, sign in by password, passkey and recovery code, and see only what is theirs."""

import re
from datetime import timedelta

import pytest
from playwright.async_api import Response, expect

from mnemoir.core.clock import utc_now
from tests.browser.conftest import OpenWindow, StartSite
from tests.browser.sign_in_kit import PASSWORD, at_localhost, invited, is_in, joined, sign_in, sign_out
from tests.browser_kit import NARROW, PHONE, WIDE


async def test_somebody_invited_joins_chats_signs_out_and_in_again(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    link = invited(site, memory_user="mira")
    page = await window.go(link)
    await expect(page.get_by_text("with the memories of mira")).to_be_visible()
    assert page.url == f"{site.url}/join"
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE), ("light", NARROW))
    codes = await joined(window, link, "Mira")

    box = page.get_by_role("textbox", name="Message", exact=True)
    await box.fill("Hello")
    async with page.expect_response(lambda answer: answer.url.startswith(f"{site.url}/api/page/chat/completions")):
        await box.press("Enter")
    await expect(page.get_by_role("article", name="Answer")).to_contain_text("Understood.")
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE))

    await sign_out(page, "Mira")
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE))
    await sign_in(page, "Mira", "not the password")
    await expect(page.get_by_text("The name, password, code or passkey is wrong")).to_be_visible()
    await sign_in(page, "mira")
    await is_in(page, "Mira")

    await sign_out(page, "Mira")
    await page.get_by_role("button", name="Use a recovery code").click()
    await page.get_by_role("textbox", name="Name").fill("Mira")
    await page.get_by_role("textbox", name="Recovery code").fill(codes[0])
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await is_in(page, "Mira")

    page = await window.go(link)
    await expect(page.get_by_role("heading", name="This link cannot be used")).to_be_visible()
    await window.axe()
    await page.get_by_role("link", name="Go to Mnemoir").click()
    await is_in(page, "Mira")


async def test_a_passkey_is_all_that_somebody_needs(start_site: StartSite, open_window: OpenWindow) -> None:
    site = at_localhost(await start_site())
    window = await open_window(site, alone=True)
    authenticator = await window.page.context.new_cdp_session(window.page)
    await authenticator.send("WebAuthn.enable")
    kind = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options = {**kind, "isUserVerified": True, "automaticPresenceSimulation": True}
    await authenticator.send("WebAuthn.addVirtualAuthenticator", {"options": options})

    page = await window.go(invited(site))
    await page.get_by_role("textbox", name="Name").fill("Ben")
    await page.get_by_role("button", name="Continue with a passkey").click()
    await page.get_by_role("link", name="I have saved them").click()
    await is_in(page, "Ben")
    await sign_out(page, "Ben")
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await is_in(page, "Ben")

    await page.get_by_role("button", name="Account of Ben").click()
    await page.get_by_role("menuitem", name="My account").click()
    await expect(page.get_by_role("button", name="Remove Passkey")).to_have_count(1)
    await page.get_by_label("New password").fill(PASSWORD)
    await page.get_by_role("button", name="Change the password").click()
    await expect(page.get_by_text("The password was changed.")).to_be_visible()
    await expect(page.get_by_text("this browser")).to_be_visible()
    await page.set_viewport_size({"width": 1024, "height": 768})
    use = page.get_by_role("region", name="Use, table")
    assert await use.evaluate("region => region.scrollWidth <= region.clientWidth")
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE), ("light", NARROW))
    await page.get_by_role("button", name="Make new recovery codes…").click()
    await page.get_by_role("button", name="Make new codes").click()
    await expect(page.get_by_role("list", name="Recovery codes").get_by_role("listitem")).to_have_count(10)
    await sign_out(page, "Ben")
    await sign_in(page, "Ben")
    await is_in(page, "Ben")


@pytest.mark.slow
async def test_a_session_that_ends_asks_again_where_one_was(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    await joined(window, invited(site), "Mira")
    page = await window.go("/memories")
    await expect(page.get_by_role("heading", name="No memories yet")).to_be_visible()
    await page.context.clear_cookies()
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Runs").click()
    await sign_in(page, "Mira")
    await is_in(page, "Mira")
    await expect(page).to_have_url(re.compile("/runs$"))
    await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.slow
async def test_what_was_typed_outlasts_the_session_and_is_for_nobody_else(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    await joined(window, invited(site), "Noa")
    await joined(window, invited(site), "Mira")
    page = await window.go("/memories")
    box = page.get_by_role("textbox", name="Memory", exact=True)
    await page.get_by_role("button", name="Add a memory").click()
    await box.fill("Mira plays the cello")
    for name in ("Mira", "Noa"):
        await page.context.clear_cookies()
        await box.press("Control+Enter")
        await sign_in(page, name)
        await expect(page.get_by_role("dialog", name="Sign in to Mnemoir")).to_have_count(0)
        await expect(box).to_have_count(1 if name == "Mira" else 0)
        if name == "Mira":
            await expect(box).to_have_value("Mira plays the cello")


@pytest.mark.slow
async def test_a_page_that_is_still_open_goes_on_as_whoever_signed_in_beside_it(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    await joined(window, invited(site), "Noa")
    await joined(window, invited(site), "Mira")
    page = await window.go("/runs")
    await is_in(page, "Mira")
    beside = await page.context.new_page()
    await beside.goto(f"{site.url}/account")
    await sign_out(beside, "Mira")
    await sign_in(beside, "Noa")
    await is_in(beside, "Noa")
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Memories").click()
    await is_in(page, "Noa")


@pytest.mark.slow
async def test_a_new_password_is_taken_once_the_old_one_was_shown_again(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window = await open_window(site, alone=True)
    await joined(window, invited(site), "Mira")
    late = utc_now() + timedelta(minutes=11)
    site.parts.access.sessions._clock = lambda: late  # ten minutes are too long for a test
    page = await window.go("/account")
    await page.get_by_label("New password", exact=True).fill("another long password")
    await page.get_by_role("button", name="Change the password").click()
    dialog = page.get_by_role("dialog", name="Is it you?")
    await window.has_no_barrier(("light", WIDE), ("dark", PHONE))
    await dialog.get_by_label("Your password", exact=True).fill(PASSWORD)
    await dialog.get_by_role("button", name="Continue").click()
    await expect(page.get_by_role("status").filter(has_text="The password was changed")).to_be_visible()
    window.wrongs[:] = [wrong for wrong in window.wrongs if "403" not in wrong]


async def test_a_person_sees_only_their_own(start_site: StartSite, open_window: OpenWindow) -> None:
    site = await start_site()
    _, key = site.parts.access.api_keys.create(by="test", role="admin")
    window = await open_window(site, alone=True)
    for user, fact in (("mira", "Mira plays the cello"), ("noa", "Noa rows on the lake")):
        said = {"user_id": user, "infer": False, "messages": [{"role": "user", "content": fact}]}
        headers = {"Authorization": f"Bearer {key}"}
        assert (await window.page.request.post(f"{site.url}/api/memories", data=said, headers=headers)).ok
    refused: list[str] = []

    def note(answer: Response) -> None:
        if answer.status == 403:
            refused.append(answer.url)

    window.page.on("response", note)

    await joined(window, invited(site, memory_user="mira"), "Mira")
    page = await window.go("/memories?user=noa")
    await expect(page.get_by_text("Mira plays the cello")).to_be_visible()
    await expect(page.get_by_text("Noa rows")).to_have_count(0)
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    await expect(links).to_have_text(["Chat", "Memories", "Conversations", "Runs", "Connect"])
    await page.get_by_role("button", name="Project default").click()
    await page.get_by_role("menuitem", name="Settings").click()
    await expect(page.get_by_role("textbox", name="User")).to_have_attribute("readonly", "")
    await expect(page.get_by_label("API key")).to_have_count(0)
    for name in ("Conversations", "Runs", "Connect"):
        await window.go(f"/{name.lower()}")
        await expect(page.get_by_role("heading", level=1)).to_have_text(name)
        await expect(page.get_by_role("alert")).to_have_count(0)
    assert refused == []


@pytest.mark.slow
async def test_who_may_only_read_is_offered_nothing_that_changes(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    _, key = site.parts.access.api_keys.create(by="test", role="admin")
    window = await open_window(site, alone=True)
    said = {"user_id": "mira", "infer": False, "messages": [{"role": "user", "content": "Plays the cello"}]}
    headers = {"Authorization": f"Bearer {key}"}
    assert (await window.page.request.post(f"{site.url}/api/memories", data=said, headers=headers)).ok
    messages = [{"role": "user", "content": "Which tea?"}, {"role": "assistant", "content": "Green."}]
    stored = {"user_id": "mira", "id": "tea", "messages": messages}
    assert (await window.page.request.post(f"{site.url}/api/conversations", data=stored, headers=headers)).ok
    await joined(window, invited(site, "read", memory_user="mira"), "Mira")

    page = await window.go("/memories")
    await page.get_by_text("Plays the cello").click()
    await expect(page.get_by_role("button", name="Copy memory")).to_be_visible()
    for name in ("Edit", "Delete", "Add a memory", "Review", "Duplicates"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    page = await window.go("/?conversation=tea")
    await expect(page.get_by_text("Green.")).to_be_visible()
    for name in ("Regenerate answer", "Edit message"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)
    page = await window.go("/conversations?id=tea")
    await page.get_by_role("button", name="More about this conversation").click()
    await expect(page.get_by_role("menuitem", name="Its runs")).to_be_visible()
    for name in ("Edit details…", "Clear context…", "Delete…"):
        await expect(page.get_by_role("menuitem", name=name)).to_have_count(0)
