"""Cookies count for this server's own page alone: not for other pages, other installations, or chat clients."""

import asyncio

import aiohttp
import pytest

from mnemoir.core.users import Grant
from tests.server.server_kit import error_of
from tests.server.sign_in.page import ORIGIN, PASSWORD, Page, invited, joined, told

CHAT = {"model": "mnemoir", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"origin": ""}, "foreign_origin"),
        ({"origin": "http://evil.example"}, "foreign_origin"),
        ({"origin": "http://localhost:8080"}, "foreign_origin"),
        ({"origin": "null"}, "foreign_origin"),
        ({"x_mnemoir_csrf": ""}, "csrf"),
        ({"x_mnemoir_csrf": "x" * 43}, "csrf"),
        ({"x_mnemoir_csrf": "ü"}, "csrf"),
        ({"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"}, "foreign_origin"),
    ],
    ids=str,
)
async def test_a_change_that_another_page_asked_for_is_refused(open_server, changed, code):
    server = await open_server()
    anna = await joined(server, "anna")
    for method, path, body in (
        ("POST", "/api/memories", {"messages": [{"role": "user", "content": "Rows"}], "infer": False}),
        ("POST", "/api/page/chat/completions", CHAT),
        ("DELETE", "/api/memories", None),
        ("POST", "/api/auth/sign-out", None),
    ):
        assert error_of(await anna.ask(method, path, body, **changed)) == (403, code)
    assert told(await anna.ask("GET", "/api/memories"))["results"] == []


async def test_a_stream_takes_the_token_however_its_path_is_encoded(open_server):
    anna = await joined(await open_server(), "anna")
    assert (await anna.ask("GET", "/api/runs%2Flive", x_mnemoir_csrf="")).status == 404  # it is no stream
    for path in ("/api/runs/live", "/api/runs/l%69ve"):
        async with asyncio.timeout(60):  # a stream that is let in has no end
            assert error_of(await anna.ask("GET", path, x_mnemoir_csrf="")) == (403, "csrf")


async def test_streams_take_the_token_or_the_own_origin_and_other_reading_takes_neither(open_server):
    server = await open_server()
    anna = await joined(server, "anna")
    stream = "/api/conversations/talk/answers/" + "0" * 16
    assert (await anna.ask("GET", stream)).status == 404
    assert (await anna.ask("GET", stream, origin=ORIGIN, x_mnemoir_csrf="")).status == 404
    assert error_of(await anna.ask("GET", stream, x_mnemoir_csrf="")) == (403, "csrf")
    assert error_of(await anna.ask("GET", stream, x_mnemoir_csrf="x" * 43)) == (403, "csrf")
    assert error_of(await anna.ask("GET", stream, origin="http://evil.example", x_mnemoir_csrf="")) == (403, "csrf")
    assert (await anna.ask("GET", "/api/memories", x_mnemoir_csrf="")).status == 200


async def test_no_route_of_chat_clients_takes_a_cookie(open_server):
    server = await open_server()
    anna = await joined(server, "anna", "admin", is_operator=True)
    for method, path in [
        *(
            ("POST", path)
            for path in ("/v1/chat/completions", "/chat/completions", "/v1/completions", "/completions")
        ),
        *(("POST", path) for path in ("/api/chat", "/api/generate", "/api/%63hat", "/api//chat/", "/api/show")),
        *(("POST", path) for path in ("/v1/embeddings", "/embeddings", "/api/embed", "/api/embeddings")),
        *(("GET", path) for path in ("/v1/models", "/models", "/api/tags", "/api/ps", "/metrics", "/ready")),
        *(("DELETE", path) for path in ("/api/chat", "/api/delete", "/api/blobs/x")),
    ]:
        assert ((await anna.ask(method, path, CHAT)).status, method, path) == (401, method, path)


async def test_the_cookie_of_another_installation_opens_nothing(open_server, tmp_path, open_parts_over):
    server = await open_server()
    other = await open_server({"storage.data_dir": str(tmp_path / "other")})
    anna, there = await joined(server, "anna"), await joined(other, "anna")
    assert anna.cookie.partition("=")[0] != there.cookie.partition("=")[0]
    token = there.cookie.partition("=")[2]
    renamed = f"{anna.cookie.partition('=')[0]}={token}"
    for cookie in (there.cookie, renamed, f"__Host-mnemoir={token}", "mnemoir", f"{anna.cookie}x", "=" * 50):
        assert (await anna.ask("GET", "/api/me", cookie=cookie)).status == 401
    both = f'other={{"a": 1}}; {there.cookie}; {anna.cookie}'
    assert (await anna.ask("GET", "/api/me", cookie=both)).status == 200


async def test_the_cookie_that_another_installation_has_for_https_shuts_nobody_out(open_server):
    anna = await joined(await open_server(), "anna")
    both = f"__Host-mnemoir={'A' * 43}; {anna.cookie}"
    assert told(await anna.ask("GET", "/api/me", cookie=both))["name"] == "anna"
    assert told(await anna.ask("GET", "/api/auth", cookie=both))["csrf"] == anna.csrf


async def test_two_cookies_of_one_name_are_refused_and_neither_counts(open_server):
    anna = await joined(await open_server(), "anna")
    name, _, token = anna.cookie.partition("=")
    pairs = (anna.cookie, f"{name}={'A' * 43}", f"{name}=", name, f" {name} = x")
    twos = [order for other in pairs for order in (f"{anna.cookie}; {other}", f"{other};x=1;{anna.cookie}")]
    for cookie in (*twos, "; ".join([anna.cookie] * 3), f"__Host-mnemoir={token}; __Host-mnemoir={'A' * 43}"):
        for method, target in (("GET", "/api/me"), ("GET", "/api/auth"), ("POST", "/api/auth/sign-out")):
            refused = await anna.ask(method, target, cookie=cookie)
            assert (error_of(refused), cookie, target) == ((400, "several_cookies"), cookie, target)
    once = f"x={name}; y{name}=2; {anna.cookie}; {name}x=3"
    assert (await anna.ask("GET", "/api/me", cookie=once)).status == 200


async def test_a_request_with_a_key_ignores_the_cookie(open_server):
    server = await open_server()
    anna = await joined(server, "anna")
    _, key = server.parts.access.api_keys.create(role="read", user="ben", by="test")
    me = told(await anna.ask("GET", "/api/me", x_api_key=key))
    assert (me["user"], me["signed_in"]) == ("ben", False)
    assert (await anna.ask("GET", "/api/me", x_api_key="wrong")).status == 401
    assert error_of(await anna.ask("GET", "/api/me/sessions", x_api_key=key)) == (403, "not_signed_in")


@pytest.mark.parametrize("way", ["password", "recovery", "join", "invitation", "first-code", "sign-out"])
async def test_no_other_page_signs_anybody_in_or_out(open_server, way):
    server = await open_server()
    await joined(server, "anna")
    body = {"name": "anna", "password": PASSWORD, "code": "abcde-fghij", "token": invited(server)}
    for headers in ({"origin": "http://evil.example"}, {"sec_fetch_site": "cross-site"}):
        answer = await server.ask("POST", f"/api/auth/{way}", body, **headers)
        assert (error_of(answer), "set-cookie" in answer.headers) == ((403, "foreign_origin"), False)


async def test_the_cookie_is_for_https_alone_where_the_page_came_by_it(open_server):
    server = await open_server(public_url="https://memory.example.org")
    anna = await joined(server, "anna", origin="https://memory.example.org")
    assert anna.cookie.startswith("__Host-mnemoir=")
    answer = await Page(server, "https://memory.example.org").sign_in("anna")
    assert answer.headers["set-cookie"].endswith("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure")
    assert (await anna.ask("POST", "/api/conversations", {})).status < 300
    assert error_of(await anna.ask("POST", "/api/conversations", {}, origin="http://memory.example.org")) == (
        403,
        "foreign_origin",
    )
    assert told(await anna.ask("GET", "/api/auth"))["secure"] is True


async def test_whoever_is_disabled_or_removed_is_signed_out_at_once(open_server):
    server = await open_server()
    users = server.parts.access.users
    pages = [await joined(server, name) for name in ("anna", "ben", "cleo")]
    assert [(await page.ask("GET", "/api/me")).status for page in pages] == [200, 200, 200]
    users.change(users.user_by_name("anna"), is_disabled=True)
    users.remove(users.user_by_name("ben"))
    server.parts.access.tenants.put("default", suspended=True)
    assert [(await page.ask("GET", "/api/me")).status for page in pages] == [401, 401, 401]
    assert [(await page.sign_in(name)).status for page, name in zip(pages, ("anna", "ben", "cleo"), strict=True)] == [
        401,
        401,
        401,
    ]
    server.parts.access.tenants.put("default", suspended=False)
    assert [(await page.ask("GET", "/api/me")).status for page in pages] == [401, 401, 200]
    users.change(
        users.get(pages[0].user["id"]) if "id" in pages[0].user else users.user_by_name("anna"), is_disabled=False
    )
    assert (await pages[0].ask("GET", "/api/me")).status == 401
    assert (await pages[0].sign_in("anna")).status == 200


async def test_no_user_left_still_means_that_a_credential_is_needed(open_server):
    server = await open_server()
    await joined(server, "anna")
    server.parts.access.users.remove(server.parts.access.users.user_by_name("anna"))
    assert (await server.ask("GET", "/api/projects")).status == 401
    auth = await server.get("/api/auth")
    assert (auth["required"], auth["has_users"]) == (True, False)
    server.parts.access.api_keys.switch(on=False)
    assert (await server.ask("GET", "/api/projects")).status == 200


async def test_a_large_head_and_a_wrong_cookie_over_a_socket_are_refused_in_order(
    listen, http: aiohttp.ClientSession
):
    server = await listen()
    server.parts.access.users.invite(Grant(role="read"), by="test")
    page = await joined(server, "anna")
    for cookie in ("x=" + "y" * 8100, f"{page.cookie}; big={'z' * 8000}", "mnemoir_=1; =; ;"):
        async with asyncio.timeout(30), http.get(f"{server.url}/api/me", headers={"cookie": cookie}) as answer:
            assert answer.status == (200 if page.cookie in cookie else 401)


async def test_a_key_counts_before_the_cookie_beside_it_and_a_wrong_key_is_refused(open_server):
    server = await open_server()
    anna = await joined(server, "anna", "admin")
    key = server.parts.access.api_keys.create(role="read", user="ben", by="test")[1]
    me = told(await anna.ask("GET", "/api/me", x_api_key=key))
    assert (me["user"], me["roles"], me["signed_in"]) == ("ben", ["read"], False)
    said = {"messages": [{"role": "user", "content": "I row."}], "user_id": "anna", "infer": False}
    assert (await anna.ask("POST", "/api/memories", said, x_api_key=key)).status == 403
    assert (await anna.ask("GET", "/api/me", x_api_key=f"{key}x")).status == 401
