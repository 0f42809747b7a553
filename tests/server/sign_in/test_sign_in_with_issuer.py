"""Signing in with an identity provider, over real HTTP on its side: the way there and back, and what may go wrong."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import orjson
import pytest
from limits import RateLimitItemPerMinute

from mnemoir.providers.http import AsgiAnswer
from mnemoir.server.door import rate_limits
from tests.scripted_issuer import ScriptedIssuer
from tests.server.server_kit import Server, error_of
from tests.server.sign_in.page import Page, invited, joined
from tests.server.storages import database_settings  # noqa: F401  # the fixture

HOST = "http://localhost"


@dataclass
class Browser(Page):
    """A browser that goes to the issuer and back."""

    issuer: ScriptedIssuer = None  # type: ignore[assignment]  # always given

    async def start(self, to: str = "/memories", invitation: str | None = None) -> dict[str, str]:
        """What the provider is asked, once the browser was sent there; with an invitation, by the page that joins."""
        if invitation is None:
            answer = await self.ask("GET", f"/api/auth/oidc/home/start?{urlencode({'to': to})}")
            assert answer.status == 302, answer.body
            sent_to = answer.headers["location"]
        else:
            answer = await self.begin(invitation, to)
            assert answer.status == 200, answer.body
            sent_to = orjson.loads(answer.body)["url"]
        assert "SameSite=Lax" in answer.headers["set-cookie"]
        place = urlsplit(sent_to)
        assert f"{place.scheme}://{place.netloc}{place.path}" == f"{self.issuer.url}/authorize"
        return dict(parse_qsl(place.query))

    async def begin(self, invitation: str, to: str = "/memories") -> AsgiAnswer:
        """The answer to a page that wants to join by an invitation."""
        return await self.ask("POST", "/api/auth/oidc/home/start", {"to": to, "invitation": invitation})

    async def come_back(self, address: str, **changed: str | None) -> AsgiAnswer:
        """The page at the address that the provider sends the browser to, with other parameters if given."""
        place = urlsplit(address)
        assert f"{place.scheme}://{place.netloc}" == HOST
        query = {name: value for name, value in (dict(parse_qsl(place.query)) | changed).items() if value is not None}
        headers = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
        return await self.ask("GET", f"{place.path}?{urlencode(query)}", **headers)

    async def finish(self, state: str) -> AsgiAnswer:
        """What the page asks for."""
        return await self.enter("/api/auth/oidc/finish", {"state": state})

    async def whole(self, invitation: str | None = None) -> AsgiAnswer:
        """All of it."""
        asked = await self.start(invitation=invitation)
        page = await self.come_back(self.issuer.sign_in(asked))
        assert page.status == 200, page.body
        return await self.finish(asked["state"])


@pytest.fixture
async def issuer():
    async with ScriptedIssuer() as scripted:
        yield scripted


@pytest.fixture
def open_with(open_server, issuer):
    """A server that people sign in to with the issuer, and a browser at it."""

    async def start(**provider: Any) -> tuple[Server, Browser]:
        own = {
            "id": "home",
            "name": "Home",
            "issuer": issuer.url,
            "client_id": "m",
            "client_secret": "a-client-secret",
        }
        server = await open_server({"auth.oidc": [own | provider]})
        return server, Browser(server, issuer=issuer)

    return start


async def test_a_person_signs_in_and_comes_to_the_page_that_they_wanted(open_with, issuer):
    server, browser = await open_with(create_users=True)
    ways = await server.get("/api/auth")
    assert (ways["required"], ways["ways"]["oidc"]) == (True, [{"id": "home", "name": "Home"}])
    asked = await browser.start("/memories?q=tea")
    assert (asked["theme"], asked["scope"], asked["code_challenge_method"]) == (
        "dark",
        "openid profile email",
        "S256",
    )
    page = await browser.come_back(issuer.sign_in(asked))
    assert (page.status, "script-src 'self'" in page.headers["content-security-policy"]) == (200, True)
    answer = await browser.finish(asked["state"])
    assert orjson.loads(answer.body)["to"] == "/memories?q=tea"
    assert "SameSite=Strict" in answer.headers["set-cookie"]
    me = orjson.loads((await browser.ask("GET", "/api/me")).body)
    assert (me["name"], me["user"], me["roles"], me["signed_in"]) == ("mira", "mira", ["write"], True)
    issuer.claims["preferred_username"] = "renamed"
    await browser.whole()
    assert [user.name for user in server.parts.access.users.users_page(None, limit=10)] == ["mira"]
    noted = await server.parts.access.audit.newest(None, limit=10, before=None, action="users.create")
    assert noted[0].target.endswith(f" {issuer.url} 248289761001")


async def test_whoever_is_not_invited_is_told_so_and_an_invitation_counts_once(open_with, issuer):
    server, browser = await open_with()
    answer = await browser.whole()
    assert error_of(answer) == (403, "not_invited")
    assert "Home knows you as 'mira'" in orjson.loads(answer.body)["error"]
    token = invited(server, "admin", memory_user="household", projects=["kitchen"], configs=["Ann"])
    late = Browser(server, issuer=issuer)
    begun_before = await late.start(invitation=token)
    assert (await browser.whole(invitation=token)).status == 200
    assert (browser.user["role"], browser.user["memory_user"]) == ("admin", "household")
    assert (browser.user["projects"], browser.user["configs"]) == (["kitchen"], ["Ann"])
    assert (await browser.whole()).status == 200
    issuer.claims = {"sub": "another", "preferred_username": "noa"}
    await late.come_back(issuer.sign_in(begun_before))
    assert error_of(await late.finish(begun_before["state"])) == (404, "invitation_not_found")
    assert error_of(await late.begin(token)) == (404, "invitation_not_found")


async def test_whoever_joins_gets_the_next_of_the_issuers_names_where_one_is_taken(open_with, issuer):
    server, browser = await open_with()
    await joined(server, "Mira")
    issuer.claims |= {"name": "Mira L."}
    assert (await browser.whole(invitation=invited(server))).status == 200
    assert browser.user["name"] == "Mira L."


async def test_a_name_or_memories_that_are_somebody_elses_are_never_given_away(open_with, issuer):
    server, browser = await open_with(create_users=True)
    alone = Page(server)
    joined = {"token": invited(server), "name": "Mira", "password": "correct horse battery"}
    assert (await alone.enter("/api/auth/join", joined)).status == 200
    issuer.claims |= {"name": "Mira", "email": "mira@home.example"}
    assert (await browser.whole()).status == 200
    assert (browser.user["name"], browser.user["memory_user"]) == ("mira@home.example", "mira@home.example")
    server.parts.access.users.remove(server.parts.access.users.user_by_name("mira@home.example"))
    issuer.claims = {"sub": "mira"}
    assert error_of(await browser.whole()) == (409, "name_taken")


async def test_a_user_goes_on_with_the_issuer_by_a_link_that_resets_them(open_with, issuer):
    server, browser = await open_with()
    page = await joined(server, "Mira", memory_user="household")
    user = server.parts.access.users.user_by_name("mira")
    _, link = server.parts.access.users.reset(user, by="test")
    assert (await browser.whole(invitation=link)).status == 200
    assert (browser.user["name"], browser.user["memory_user"]) == ("Mira", "household")
    assert (await Page(server).sign_in("Mira")).status == 401
    assert (await page.ask("GET", "/api/me")).status == 401
    server.parts.access.users.remove(user)
    assert error_of(await browser.whole()) == (403, "not_invited")


async def test_what_the_issuer_says_of_roles_and_projects_counts_from_the_next_sign_in_on(open_with, issuer):
    claims = {"role": "groups", "projects": "teams", "user": "email", "tenant": "org"}
    server, browser = await open_with(
        create_users=True, claims=claims, role_map={"family": "write", "parents": "admin"}
    )
    issuer.claims |= {"org": "smiths", "groups": ["parents"], "teams": ["kitchen"], "email": "mira@home.example"}
    assert (await browser.whole()).status == 200
    assert (browser.user["role"], browser.user["projects"]) == ("admin", ["kitchen"])
    assert (browser.user["tenant"], browser.user["memory_user"]) == ("smiths", "mira@home.example")
    issuer.claims |= {"groups": ["family"], "teams": ["hall", "kitchen"]}
    assert (await browser.whole()).status == 200
    assert (browser.user["role"], browser.user["projects"]) == ("write", ["hall", "kitchen"])
    issuer.claims["groups"] = ["gardeners"]
    assert error_of(await browser.whole()) == (403, "token_without_role")
    issuer.claims |= {"groups": ["family"], "org": "joneses"}
    assert error_of(await browser.whole()) == (403, "other_tenant")
    server.parts.access.users.change(server.parts.access.users.user_by_name("mira"), is_disabled=True)
    issuer.claims["org"] = "smiths"
    assert error_of(await browser.whole()) == (401, "wrong_sign_in")


async def test_a_sign_in_counts_once_in_its_own_browser_and_for_ten_minutes(open_with, issuer):
    server, browser = await open_with(create_users=True)
    asked = await browser.start()
    address, others = issuer.sign_in(asked), Browser(server, issuer=issuer)
    assert (await others.come_back(address)).status == 401  # no cookie
    await others.start()
    assert (await others.come_back(address)).status == 401  # that of another sign-in
    assert error_of(await browser.finish(asked["state"])) == (401, "wrong_sign_in")  # it did not come back
    asked = await browser.start()
    address = issuer.sign_in(asked)
    assert (await browser.come_back(address, state="made-up")).status == 401
    assert (await browser.come_back(address)).status == 200
    assert (await browser.come_back(address)).status == 401
    kept = browser.cookie
    assert error_of(await others.finish(asked["state"])) == (401, "wrong_sign_in")
    assert (await browser.finish(asked["state"])).status == 200
    browser.cookie = kept
    assert error_of(await browser.finish(asked["state"])) == (401, "wrong_sign_in")


LIES = {
    "nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "issuer": {"iss": "https://evil.example"},
    "audience": {"aud": "another"},
    "several audiences": {"aud": ["m", "another"]},
    "party": {"aud": ["m", "another"], "azp": "another"},
    "expired": {"exp": 1},
    "nobody": {"sub": None},
}


@pytest.mark.parametrize("kind", LIES)
async def test_a_token_that_is_not_for_this_sign_in_lets_nobody_in(open_with, issuer, kind):
    server, browser = await open_with(create_users=True)
    issuer.lies = LIES[kind]
    assert (await browser.whole()).status == 401
    assert not server.parts.access.users.are_there


async def test_a_code_from_another_issuer_or_without_its_name_is_not_redeemed(open_with, issuer):
    _, browser = await open_with(create_users=True)
    for other in ("https://evil.example", None):
        asked = await browser.start()
        page = await browser.come_back(issuer.sign_in(asked), iss=other)
        assert (page.status, b"Home did not sign you in" in page.body) == (401, True)
        assert error_of(await browser.finish(asked["state"])) == (401, "wrong_sign_in")
    assert issuer.asked["/token"] == 0


async def test_errors_of_the_issuer_are_told_in_plain_words_and_only_in_the_browser_that_asked(open_with, issuer):
    server, browser = await open_with(create_users=True)
    asked = await browser.start()
    denied = f"{asked['redirect_uri']}?{urlencode({'state': asked['state'], 'error': 'access_denied'})}"
    foreign = await Browser(server, issuer=issuer).come_back(denied, error="<b>Call 555</b>")
    assert b"555" not in foreign.body
    page = await browser.come_back(denied)
    assert (page.status, b"you or it refused" in page.body) == (401, True)
    issuer.fails = {"error": "invalid_client", "error_description": "wrong"}
    answer = await browser.whole()
    assert "does not accept the client_id or the secret" in orjson.loads(answer.body)["error"]


@pytest.mark.parametrize(
    "to", ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "/\t/evil.example"]
)
async def test_nobody_is_sent_to_another_site_afterwards(open_with, to):
    _, browser = await open_with()
    answer = await browser.ask("GET", f"/api/auth/oidc/home/start?{urlencode({'to': to})}")
    assert (answer.status, "location" in answer.headers) == (400, False)


async def test_one_address_begins_no_more_sign_ins_than_leave_room_for_those_of_others(
    listen, http, issuer, monkeypatch, clock
):
    monkeypatch.setattr(rate_limits, "_SIGN_INS_BEGUN", RateLimitItemPerMinute(2))
    own = {"id": "home", "name": "Home", "issuer": issuer.url, "client_id": "m", "client_secret": "a-client-secret"}
    server, answers = await listen({"auth.oidc": [own]}), []
    for _ in range(3):
        begun = f"{server.url}/api/auth/oidc/home/start?to=/"
        async with http.get(begun, allow_redirects=False) as answer:
            answers.append(answer.status)
    assert answers == [302, 302, 429]


async def test_another_sites_page_cannot_finish_a_sign_in(open_with, issuer):
    _, browser = await open_with(create_users=True)
    asked = await browser.start()
    await browser.come_back(issuer.sign_in(asked))
    foreign = await browser.ask(
        "POST", "/api/auth/oidc/finish", {"state": asked["state"]}, origin="https://evil.example"
    )
    assert error_of(foreign) == (403, "foreign_origin")
    assert (await browser.finish(asked["state"])).status == 200


async def test_an_issuer_that_is_away_is_named_and_an_unknown_one_is_not_found(open_with, issuer):
    _, browser = await open_with()
    issuer.is_away = True
    answer = await browser.ask("GET", "/api/auth/oidc/home/start")
    assert (answer.status, issuer.url.encode() in answer.body) == (503, True)
    assert (await browser.ask("GET", "/api/auth/oidc/none/start")).status == 404


@pytest.mark.parametrize("way", ["none", "client_secret_basic", "client_secret_post"])
async def test_a_code_is_redeemed_as_the_issuer_wants_it(open_with, issuer, way):
    issuer.way = way
    _, browser = await open_with(create_users=True, client_secret=None if way == "none" else "a-client-secret")
    assert (await browser.whole()).status == 200
