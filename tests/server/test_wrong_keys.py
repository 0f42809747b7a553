"""Wrong keys are counted by the address they come from, and too many of them are refused for a while."""

import orjson
import pytest
import structlog

from mnemoir.server.door.client_address import Proxies, network_of
from mnemoir.settings.addresses import network
from tests.server.server_kit import hello

KEY, WRONG = "a-key-of-sixteen-or-more", "wrong-but-secret"
PROJECTS = "/api/projects"


async def statuses(http, url: str, count: int, **headers: str) -> list[int]:
    found = []
    for _ in range(count):
        async with http.get(url, headers={name.replace("_", "-"): text for name, text in headers.items()}) as answer:
            found.append(answer.status)
    return found


async def test_the_eleventh_wrong_key_in_a_minute_is_refused_and_a_right_one_is_not(listen, http, clock):
    server = await listen(api_keys=[KEY])
    url = server.url + PROJECTS
    assert await statuses(http, url, 20, x_api_key=WRONG) == [401] * 10 + [429] * 10
    assert await statuses(http, url, 1, x_api_key=KEY) == [200]
    assert await statuses(http, url, 1) == [401]
    clock.now += 30
    assert await statuses(http, url, 1, x_api_key=WRONG) == [429]
    clock.now += 90
    assert await statuses(http, url, 11, x_api_key=WRONG) == [401] * 10 + [429]


async def test_a_key_that_was_made_and_taken_back_counts_as_a_wrong_one(listen, http, clock):
    server = await listen(api_keys=[KEY])
    made, text = server.parts.access.api_keys.create(role="read", by="test")
    server.parts.access.api_keys.revoke(made.id)
    assert await statuses(http, server.url + PROJECTS, 11, x_api_key=text) == [401] * 10 + [429]


async def test_wrong_keys_that_differ_in_one_request_count_as_a_wrong_key_and_two_right_ones_do_not(
    listen, http, clock
):
    server = await listen(api_keys=[KEY])
    _, other = server.parts.access.api_keys.create(role="read", by="test")
    url = server.url + PROJECTS
    assert await statuses(http, url, 12, x_api_key=KEY, api_key=other) == [400] * 12
    assert await statuses(http, url, 5, x_api_key=WRONG, api_key="another-wrong-one") == [400] * 5
    assert await statuses(http, url, 7, x_api_key=KEY, authorization=f"Bearer {WRONG}") == [400] * 5 + [429] * 2
    assert await statuses(http, url, 1, x_api_key=WRONG) == [429]
    assert await statuses(http, url, 1, x_api_key=KEY) == [200]


async def test_the_refusal_says_how_long_to_wait_and_repeats_no_key(listen, http, clock):
    server = await listen(api_keys=[KEY])
    sent = {"authorization": f"Bearer {WRONG}"}
    with structlog.testing.capture_logs() as logged:
        await statuses(http, server.url + PROJECTS, 10, **sent)
        async with http.get(server.url + PROJECTS, headers=sent) as answer:
            told, body = answer, await answer.read()
    error = orjson.loads(body)
    assert (told.status, error["code"], error["bucket"]) == (429, "rate_limited", "unauthenticated")
    assert told.headers["www-authenticate"] == "Bearer"
    assert WRONG not in f"{body!r} {told.headers} {logged}"
    clock.now += int(told.headers["retry-after"]) - 1
    assert await statuses(http, server.url + PROJECTS, 1, **sent) == [429]
    clock.now += 1
    assert await statuses(http, server.url + PROJECTS, 1, **sent) == [401]


async def test_without_limits_requests_without_a_key_are_not_counted(listen, http, clock):
    server = await listen(api_keys=[KEY])
    assert await statuses(http, server.url + PROJECTS, 30) == [401] * 30
    assert await statuses(http, server.url + PROJECTS, 1, x_api_key=WRONG) == [401]


async def test_with_limits_on_the_thirty_first_request_without_a_valid_key_is_refused(listen, http, clock):
    server = await listen(api_keys=[KEY], rate_limits={"read": (1000, 1000)})
    url = server.url + PROJECTS
    assert await statuses(http, url, 31) == [401] * 30 + [429]
    assert await statuses(http, url, 1, x_api_key=KEY) == [200]
    assert await statuses(http, server.url + "/health", 1) == [200]
    clock.now += 120
    assert await statuses(http, url, 1) == [401]


async def test_a_server_without_keys_counts_none(listen, http):
    server = await listen()
    assert await statuses(http, server.url + PROJECTS, 30, x_api_key=WRONG) == [200] * 30


async def test_calls_within_the_process_are_not_limited(open_server):
    server = await open_server(api_keys=[KEY])
    assert {(await server.ask("GET", PROJECTS, x_api_key=WRONG)).status for _ in range(30)} == {401}


async def test_behind_a_trusted_proxy_each_client_has_its_own_count(listen, http, clock):
    server = await listen(api_keys=[KEY], trusted_proxies=["127.0.0.1/32"])
    url = server.url + PROJECTS
    one = await statuses(http, url, 11, x_api_key=WRONG, x_forwarded_for="9.9.9.9, 203.0.113.7")
    assert one == [401] * 10 + [429]
    assert await statuses(http, url, 1, x_api_key=WRONG, x_forwarded_for="203.0.113.7, 203.0.113.8") == [401]


async def test_what_others_say_of_their_address_counts_for_nothing(listen, http, clock):
    server = await listen(api_keys=[KEY])
    told = [
        await statuses(http, server.url + PROJECTS, 1, x_api_key=WRONG, x_forwarded_for=f"203.0.113.{number}")
        for number in range(11)
    ]
    assert told == [[401]] * 10 + [[429]]


async def test_the_audit_log_counts_them_with_the_client_s_address_and_not_what_a_key_asks_too_often(
    listen, http, clock
):
    sizes = {"read": (1, 100)}
    server = await listen(api_keys=[KEY], trusted_proxies=["127.0.0.1/32"], rate_limits=sizes)
    await statuses(http, server.url + PROJECTS, 13, x_api_key=WRONG, x_forwarded_for="2001:db8::7")
    assert await statuses(http, server.url + PROJECTS, 2, x_api_key=KEY) == [200, 429]
    await server.parts.access.audit.aclose()
    listed = await server.parts.access.audit.newest(None, limit=10, before=None, action="refused")
    told = {(entry.actor, entry.address, entry.result): entry.count for entry in listed}
    assert told == {("anybody", "2001:db8::7", "401"): 10, ("anybody", "2001:db8::7", "429"): 3}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models/none"])
async def test_clients_of_openai_read_the_refusal_in_their_own_form(listen, http, clock, path):
    server = await listen(api_keys=[KEY])
    sent = {"authorization": f"Bearer {WRONG}"}
    await statuses(http, server.url + PROJECTS, 10, **sent)
    method, body = ("POST", hello()) if "chat" in path else ("GET", None)
    async with http.request(method, server.url + path, json=body, headers=sent) as told:
        error = (await told.json())["error"]
    assert (told.status, error["type"], error["code"]) == (429, "rate_limit_error", "rate_limited")


def asked_from(address: str | None, *forwarded: str) -> dict:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return {"client": None if address is None else (address, 40_000), "headers": headers}


@pytest.mark.parametrize(
    ("address", "forwarded", "found"),
    [
        (None, ["203.0.113.7"], None),
        ("", [], None),
        ("198.51.100.1", ["203.0.113.7"], "198.51.100.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["9.9.9.9, 203.0.113.7, 10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", ["9.9.9.9", "203.0.113.7", "10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", ["203.0.113.7:4711"], "203.0.113.7"),
        ("10.0.0.1", ["[2001:db8:1:2:3::4]:4711"], "2001:db8:1:2::/64"),
        ("10.0.0.1", ["203.0.113.7, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", [" , "], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("2001:db8:1:2:aaaa::1", [], "2001:db8:1:2::/64"),
        ("::ffff:10.0.0.1", ["::ffff:203.0.113.7"], "203.0.113.7"),
        ("fd00::1", ["203.0.113.7"], "203.0.113.7"),
    ],
)
def test_the_address_is_the_last_that_no_trusted_proxy_has(address, forwarded, found):
    client = Proxies([network("10.0.0.0/8"), network("fd00::/8")]).client_of(asked_from(address, *forwarded))
    assert (None if client is None else network_of(client)) == found
