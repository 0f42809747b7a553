"""Passkeys over real HTTP, by a software authenticator: joining, signing in, and what no passkey may do."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import aiohttp
import orjson
import pytest

from mnemoir.core.clock import utc_now
from mnemoir.providers.http import AsgiAnswer
from tests.server.server_kit import Server, error_of
from tests.server.sign_in.authenticator import PRESENT, Authenticator
from tests.server.sign_in.page import PASSWORD, Page, invited, told
from tests.server.storages import database_settings  # noqa: F401  # the fixture


@dataclass(frozen=True)
class Served(Server):
    """A server that is asked over its socket, by the name localhost."""

    http: aiohttp.ClientSession

    @property
    def origin(self) -> str:
        """The origin of its pages."""
        return self.url.replace("127.0.0.1", "localhost")

    async def ask(self, method: str, target: str, body: object = None, **headers: str) -> AsgiAnswer:
        """One request."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = None if body is None else orjson.dumps(body)
        async with self.http.request(method, self.origin + target, data=sent, headers=named) as answer:
            told = {name.lower(): value for name, value in answer.headers.items()}
            return AsgiAnswer(status=answer.status, headers=told, body=await answer.read())


@pytest.fixture
async def served(listen) -> AsyncIterator[Served]:
    server = await listen()
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        yield Served(app=server.app, parts=server.parts, url=server.url, http=http)


async def joined_by_passkey(served: Served, name: str) -> tuple[Page, Authenticator]:
    page, device = Page(served, served.origin), Authenticator(served.origin)
    token = invited(served)
    asked = told(await page.ask("POST", "/api/auth/join/passkey/options", {"token": token, "name": name}))
    passkey = {"id": asked["id"], "credential": device.make(asked["options"])}
    answer = await page.enter("/api/auth/join", {"token": token, "name": name, "passkey": passkey})
    assert answer.status == 200, answer.body
    return page, device


async def asked_to_sign_in(page: Page) -> dict:
    found: dict = told(await page.ask("POST", "/api/auth/passkey/options", {}))
    return found


async def test_somebody_joins_and_signs_in_by_a_passkey(served):
    anna, device = await joined_by_passkey(served, "anna")
    assert len(anna.recovery_codes) == 10
    user = served.parts.access.users.user_by_name("anna")
    assert (user.has_password, user.passkeys) == (False, 1)
    page = Page(served, served.origin)
    assert told(await page.ask("GET", "/api/auth"))["ways"]["passkey"] == {"available": True, "reason": None}
    asked = await asked_to_sign_in(page)
    assert asked["options"]["userVerification"] == "required"
    answer = await page.enter("/api/auth/passkey", {"id": asked["id"], "credential": device.use(asked["options"])})
    assert (answer.status, page.user["name"]) == (200, "anna")
    assert (await page.ask("GET", "/api/memories")).status == 200
    assert error_of(await page.sign_in("anna", "")) == (401, "wrong_sign_in")


async def test_whoever_signed_in_a_while_ago_confirms_by_a_passkey_of_their_own(served, monkeypatch):
    anna, device = await joined_by_passkey(served, "anna")
    _, of_ben = await joined_by_passkey(served, "ben")
    late = utc_now() + timedelta(minutes=11)
    monkeypatch.setattr(served.parts.access.sessions, "_clock", lambda: late)

    async def confirmed(signing: Authenticator) -> AsgiAnswer:
        asked = await asked_to_sign_in(anna)
        passkey = {"id": asked["id"], "credential": signing.use(asked["options"])}
        return await anna.ask("POST", "/api/me/confirm", {"passkey": passkey})

    assert error_of(await anna.ask("POST", "/api/me/passkeys/options")) == (403, "confirmation_needed")
    assert error_of(await confirmed(of_ben)) == (401, "wrong_sign_in")
    assert error_of(await anna.ask("POST", "/api/me/passkeys/options")) == (403, "confirmation_needed")
    assert (await confirmed(device)).status == 204
    assert (await anna.ask("POST", "/api/me/passkeys/options")).status == 200


async def test_what_no_own_passkey_signed_for_this_question_is_refused(served):
    _, device = await joined_by_passkey(served, "anna")
    page = Page(served, served.origin)

    async def tried(signing: Authenticator, **changed) -> tuple[int, str]:
        asked = await asked_to_sign_in(page)
        credential = signing.use(asked["options"] | changed)
        return error_of(await page.enter("/api/auth/passkey", {"id": asked["id"], "credential": credential}))

    wrong = (401, "wrong_sign_in")
    assert await tried(replace(device, origin="http://evil.example")) == wrong
    assert await tried(replace(device, flags=PRESENT)) == wrong
    assert await tried(device, rpId="evil.example") == wrong
    assert await tried(device, challenge="AAAA") == wrong
    stranger = Authenticator(served.origin)
    stranger.make({"rp": {"id": "localhost"}, "challenge": "AAAA"})
    assert await tried(stranger) == wrong
    own = next(iter(device.keys))
    stranger.keys = {own: next(iter(stranger.keys.values()))}
    assert await tried(stranger) == wrong
    for credential in ({}, {"rawId": "é", "response": []}):
        asked = await asked_to_sign_in(page)
        answer = await page.enter("/api/auth/passkey", {"id": asked["id"], "credential": credential})
        assert error_of(answer) == wrong


async def test_a_question_counts_once_and_for_five_minutes(served, monkeypatch):
    _, device = await joined_by_passkey(served, "anna")
    page = Page(served, served.origin)
    asked = await asked_to_sign_in(page)
    body = {"id": asked["id"], "credential": device.use(asked["options"])}
    assert (await page.enter("/api/auth/passkey", body)).status == 200
    again = {"id": asked["id"], "credential": device.use(asked["options"])}
    assert error_of(await page.enter("/api/auth/passkey", again)) == (401, "wrong_sign_in")
    late = await asked_to_sign_in(page)
    monkeypatch.setattr(served.parts.access.passkeys, "_clock", lambda: utc_now() + timedelta(minutes=5, seconds=1))
    body = {"id": late["id"], "credential": device.use(late["options"])}
    assert error_of(await page.enter("/api/auth/passkey", body)) == (401, "wrong_sign_in")


async def test_a_copied_authenticator_that_counts_behind_is_refused(served):
    _, device = await joined_by_passkey(served, "anna")
    page, copy = Page(served, served.origin), replace(device)
    for signing, status in ((device, 200), (device, 200), (copy, 401)):
        asked = await asked_to_sign_in(page)
        body = {"id": asked["id"], "credential": signing.use(asked["options"])}
        assert (await page.enter("/api/auth/passkey", body)).status == status


async def test_a_user_adds_and_removes_passkeys(served):
    anna, _ = await joined_by_passkey(served, "anna")
    phone = Authenticator(served.origin)
    asked = told(await anna.ask("POST", "/api/me/passkeys/options"))
    assert len(asked["options"]["excludeCredentials"]) == 1
    credential = phone.make(asked["options"])
    body = {"id": asked["id"], "credential": credential, "label": "phone"}
    kept = told(await anna.ask("POST", "/api/me/passkeys", body))
    assert error_of(await anna.ask("POST", "/api/me/passkeys", body)) == (400, "passkey_refused")
    listed = told(await anna.ask("GET", "/api/me/passkeys"))["results"]
    assert [one["label"] for one in listed] == ["Passkey", "phone"]
    page = Page(served, served.origin)
    asked = await asked_to_sign_in(page)
    body = {"id": asked["id"], "credential": phone.use(asked["options"])}
    assert (await page.enter("/api/auth/passkey", body)).status == 200
    assert (await anna.ask("DELETE", f"/api/me/passkeys/{kept['id']}")).status == 204
    asked = await asked_to_sign_in(page)
    body = {"id": asked["id"], "credential": phone.use(asked["options"])}
    assert (await page.enter("/api/auth/passkey", body)).status == 401


async def test_a_reset_gives_a_new_passkey_in_place_of_all_that_was(served):
    anna, lost = await joined_by_passkey(served, "anna")
    token = served.parts.access.users.reset(served.parts.access.users.user_by_name("anna"), by="test")[1]
    page, device = Page(served, served.origin), Authenticator(served.origin)
    asked = told(await page.ask("POST", "/api/auth/join/passkey/options", {"token": token, "name": "x"}))
    assert asked["options"]["user"]["name"] == "anna"
    passkey = {"id": asked["id"], "credential": device.make(asked["options"])}
    both = {"token": token, "name": "anna", "passkey": passkey, "password": PASSWORD}
    assert error_of(await page.enter("/api/auth/join", both)) == (422, "validation_error")
    answer = await page.enter("/api/auth/join", {"token": token, "name": "anna", "passkey": passkey})
    assert (answer.status, page.user["name"]) == (200, "anna")
    assert (await anna.ask("GET", "/api/me")).status == 401
    asked = await asked_to_sign_in(page)
    body = {"id": asked["id"], "credential": lost.use(asked["options"])}
    assert (await page.enter("/api/auth/passkey", body)).status == 401


@pytest.mark.parametrize(
    ("host", "origin", "reason"),
    [
        ("127.0.0.1:6060", "http://127.0.0.1:6060", "Open http://localhost:6060 instead."),
        ("192.168.1.2:6060", "http://192.168.1.2:6060", "this is http://192.168.1.2:6060."),
        ("memory.example.org", "https://memory.example.org", None),
        ("localhost:6060", "http://localhost:6060", None),
    ],
)
async def test_where_browsers_make_no_passkeys_the_page_is_told_why(open_server, host, origin, reason):
    server = await open_server(host="0.0.0.0", public_url=origin if origin.startswith("https") else None)
    token = invited(server)
    asked = {"token": token, "name": "anna"}
    answer = await server.ask("POST", "/api/auth/join/passkey/options", asked, host=host, origin=origin)
    way = told(await server.ask("GET", "/api/auth", host=host, origin=origin))["ways"]["passkey"]
    assert (answer.status, way["available"]) == ((200, True) if reason is None else (400, False))
    assert reason is None or way["reason"].endswith(reason)
