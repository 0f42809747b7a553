"""Signing in with an identity provider in a real browser: there, back, and to the page that was wanted."""

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenWindow, StartSite
from tests.scripted_issuer import ScriptedIssuer
from tests.server.server_kit import Server
from tests.server.sign_in.page import invited


async def asked(page: Page, path: str) -> Any:
    """What the page of this server gets."""
    return await page.evaluate("async (path) => (await fetch(path)).json()", path)


async def test_a_person_who_is_invited_joins_with_the_provider(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    async with ScriptedIssuer() as issuer:
        provider = {"id": "home", "name": "Home", "issuer": issuer.url, "client_id": "m"}
        issuer.way = "none"
        site = await start_site({"auth.oidc": [provider]})
        window = await open_window(site, alone=True)
        page = await window.go("/api/auth/oidc/home/start?to=/memories")
        await expect(page.get_by_role("status")).to_contain_text("nobody invited you here")
        await expect(page.get_by_role("link", name="Back to Mnemoir")).to_be_visible()
        assert "code" not in page.url
        token = invited(Server(app=None, parts=site.parts), memory_user="household")  # type: ignore[arg-type]  # an invitation asks only the parts
        await page.goto(f"{window.url}/join#{token}")
        await page.get_by_role("button", name="Join with Home").click()
        await page.wait_for_url(f"{window.url}/")
        me = await asked(page, "/api/auth")
        assert (me["user"]["name"], me["user"]["memory_user"]) == ("mira", "household")
        assert await page.evaluate("sessionStorage.length") == 0
        window.wrongs[:] = [wrong for wrong in window.wrongs if issuer.url not in wrong]


@pytest.mark.slow
async def test_below_a_path_whoever_joins_with_the_provider_comes_to_a_page_there(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    async with ScriptedIssuer() as issuer:
        provider = {"id": "home", "name": "Home", "issuer": issuer.url, "client_id": "m"}
        issuer.way = "none"
        site = await start_site({"auth.oidc": [provider]}, root_path="/memory")
        window = await open_window(site, alone=True)
        token = invited(Server(app=None, parts=site.parts))  # type: ignore[arg-type]  # the same
        page = await window.go(f"/memory/join#{token}")
        await page.get_by_role("button", name="Join with Home").click()
        await page.wait_for_url(f"{window.url}/memory/")
        window.wrongs[:] = [wrong for wrong in window.wrongs if issuer.url not in wrong]
