"""How often a key may ask, by kind of request: buckets, their headers, and the refusals in each protocol."""

import re

import orjson
import pytest
from starlette.types import Scope

from mnemoir.core.errors import RateLimited
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.rate_limits import RateLimits
from mnemoir.server.door.request import visit_of
from tests.server.server_kit import asks, error_of, hello
from tests.server.test_key_matrix import WRITTEN

PROJECTS, MEMORIES, CHAT = "/api/projects", "/api/memories", "/v1/chat/completions"
BUCKETS = ("chat", "add", "search", "read", "admin")
OF_RIGHTS = {"any": "read", "read": "read", "write": "add", "admin": "admin", "manage": "admin", "server": "admin"}
ONE = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")


def sized(**sizes: tuple[int, int]) -> dict[str, tuple[int, int]]:
    """Sizes of all buckets, far away but for those named."""
    return dict.fromkeys(BUCKETS, (1000, 10_000)) | sizes


def shown(answer) -> tuple[int, ...]:
    """Limit, rest and reset as the answer tells them."""
    return tuple(int(answer.headers[name]) for name in ONE)


def said(**more) -> dict:
    return {"messages": [{"role": "user", "content": "I like tea."}], "user_id": "mira"} | more


@pytest.fixture
def open_limited(open_server, clock):
    """A server with the keys `one` and `two` and these sizes."""

    async def start(settings=None, **sizes):
        server = await open_server(settings, rate_limits=sized(**sizes))
        keys = server.parts.access.api_keys
        one, two = ({"x_api_key": keys.create(role="admin", by="test")[1]} for _ in range(2))
        return server, one, two

    return start


async def test_a_key_that_asks_too_often_is_told_how_long_to_wait_and_others_are_not(open_limited, clock):
    server, one, two = await open_limited(read=(3, 100))
    told = [await server.ask("GET", PROJECTS, **one) for _ in range(4)]
    assert [answer.status for answer in told] == [200, 200, 200, 429]
    assert (error_of(told[3]), orjson.loads(told[3].body)["bucket"]) == ((429, "rate_limited"), "read")
    assert (await server.ask("GET", PROJECTS, **two)).status == 200
    clock.now += int(told[3].headers["retry-after"]) - 1
    assert (await server.ask("GET", PROJECTS, **one)).status == 429
    clock.now += 1
    assert (await server.ask("GET", PROJECTS, **one)).status == 200


async def test_every_answer_shows_the_window_that_is_nearest_to_its_end(open_limited, clock):
    server, one, _ = await open_limited(read=(3, 5))
    assert [shown(await server.ask("GET", PROJECTS, **one))[:2] for _ in range(4)] == [(3, 2), (3, 1), (3, 0), (3, 0)]
    clock.now += 20
    assert shown(await server.ask("GET", PROJECTS, **one))[:2] == (5, 1)
    refused = await server.ask("GET", "/api/memories/unknown/history?user_id=mira", **one)
    assert (refused.status, shown(refused)[:2]) == (404, (5, 0))


async def test_after_the_reset_all_is_free_again(open_limited, clock):
    server, one, _ = await open_limited(read=(3, 100))
    resets = [shown(await server.ask("GET", PROJECTS, **one))[2] for _ in range(3)]
    clock.now += resets[-1]
    assert shown(await server.ask("GET", PROJECTS, **one))[:2] == (3, 2)


async def test_a_minute_holds_no_more_than_its_window_however_evenly_one_asks(open_limited, clock):
    server, one, _ = await open_limited(read=(3, 10))
    statuses = []
    for _ in range(60):
        statuses.append((await server.ask("GET", PROJECTS, **one)).status)
        clock.now += 1
    assert statuses.count(200) == 10


async def test_an_add_with_inference_costs_as_much_as_four_without(open_limited):
    server, one, _ = await open_limited(add=(9, 100))
    assert shown(await server.ask("POST", MEMORIES, said(), **one))[:2] == (9, 5)
    assert shown(await server.ask("POST", MEMORIES, said(infer=False), **one))[:2] == (9, 4)
    assert shown(await server.ask("POST", MEMORIES, said(infer=False), **one))[:2] == (9, 3)


async def test_an_add_with_inference_that_does_not_fit_costs_nothing_and_fits_after_the_wait(open_limited, clock):
    server, one, _ = await open_limited(add=(5, 100))
    await server.ask("POST", MEMORIES, said(infer=False), **one)
    await server.ask("POST", MEMORIES, said(infer=False), **one)
    refused = [await server.ask("POST", MEMORIES, said(), **one) for _ in range(3)]
    assert [(answer.status, shown(answer)[:2]) for answer in refused] == [(429, (5, 3))] * 3
    clock.now += int(refused[-1].headers["retry-after"])
    assert (await server.ask("POST", MEMORIES, said(), **one)).status == 200


async def test_a_chat_is_counted_once_whatever_it_learns(open_limited, llm):
    server, one, _ = await open_limited(asks(llm), chat=(2, 100), add=(4, 4), search=(1, 1))
    chat = hello(user="mira", conversation_id="talk", memoryEnabled=True)
    assert shown(await server.ask("POST", CHAT, chat, **one))[:2] == (2, 1)
    assert shown(await server.ask("POST", MEMORIES, said(infer=False), **one))[:2] == (4, 3)


@pytest.mark.parametrize(
    ("path", "body", "reads"),
    [
        (CHAT, hello(), lambda told: told["error"]["type"] == "rate_limit_error"),
        ("/v1/completions", {"prompt": "Hello"}, lambda told: told["error"]["code"] == "rate_limited"),
        ("/api/chat", hello(), lambda told: isinstance(told["error"], str)),
        ("/api/generate", {"prompt": "Hello"}, lambda told: isinstance(told["error"], str)),
    ],
)
async def test_a_refused_chat_has_the_form_of_its_protocol(open_limited, llm, path, body, reads):
    server, one, _ = await open_limited(asks(llm), chat=(1, 100))
    await server.ask("POST", CHAT, hello(), **one)
    refused = await server.ask("POST", path, body, **one)
    told = orjson.loads(refused.body)
    assert (error_of(refused), told["bucket"], reads(told)) == ((429, "rate_limited"), "chat", True)
    assert int(refused.headers["retry-after"]) >= 1


async def test_requests_that_a_role_may_not_make_are_counted_too(open_limited):
    server, *_ = await open_limited(admin=(2, 100))
    low = {"x_api_key": server.parts.access.api_keys.create(role="read", by="test")[1]}
    assert [(await server.ask("GET", "/api/keys", **low)).status for _ in range(3)] == [403, 403, 429]


async def test_open_routes_and_pages_are_not_limited(open_limited):
    server, one, _ = await open_limited(**dict.fromkeys(BUCKETS, (1, 1)) | {"add": (4, 4)})
    for path in ("/health", "/api/version", "/memories"):
        told = [await server.ask("GET", path, **one) for _ in range(3)]
        assert {(answer.status == 429, ONE[0] in answer.headers) for answer in told} == {(False, False)}


@pytest.mark.parametrize("keys", [[], ["a-key-of-sixteen-or-more"]])
async def test_without_keys_or_unless_switched_on_nothing_is_limited(open_server, keys):
    sizes = {} if keys else sized(read=(1, 1))
    server = await open_server(api_keys=keys, rate_limits=sizes)
    sent = {"x_api_key": keys[0]} if keys else {}
    told = [await server.ask("GET", PROJECTS, **sent) for _ in range(3)]
    assert {(answer.status, ONE[0] in answer.headers) for answer in told} == {(200, False)}


async def test_browsers_may_read_the_headers(open_server):
    origin = "https://chat.example.com"
    key = "a-key-of-sixteen-or-more"
    server = await open_server(api_keys=[key], cors_origins=[origin], rate_limits=sized())
    answer = await server.ask("GET", PROJECTS, x_api_key=key, origin=origin)
    assert set(ONE) <= set(re.split(", ?", answer.headers["access-control-expose-headers"].lower()))


async def test_over_a_socket_head_and_get_count_alike(listen, http, clock):
    server = await listen(api_keys=["a-key-of-sixteen-or-more"], rate_limits=sized(read=(2, 100)))
    statuses = []
    for method in ("HEAD", "GET", "HEAD"):
        sent = {"x-api-key": "a-key-of-sixteen-or-more"}
        async with http.request(method, server.url + PROJECTS, headers=sent) as answer:
            statuses.append((answer.status, answer.headers["x-ratelimit-remaining"]))
    assert statuses == [(200, "1"), (200, "0"), (429, "0")]


async def test_a_search_of_a_discussion_counts_as_one_whatever_its_id_holds(open_limited):
    server, one, _ = await open_limited(search=(7, 100))
    for id in ("trip", "trip%2Fday%2Fone"):
        answer = await server.ask("GET", f"/api/discussions/{id}/search?q=tea", **one)
        assert (answer.status, answer.headers["x-ratelimit-limit"]) == (404, "7")


def test_every_route_counts_for_the_bucket_of_its_kind():
    for (method, path), row in WRITTEN.items():
        if "completions" in path or (method == "POST" and path in ("/api/chat", "/api/generate")):
            expected = "chat"
        elif ("/embed" in path and "/model/" not in path) or path.endswith(("/search", "/map", "/recall")):
            expected = "search"
        else:
            expected = OF_RIGHTS.get(row.right, "-")
        assert (row.bucket, method, path) == (expected, method, path)


async def test_what_no_route_has_counts_for_reading(open_limited):
    server, one, _ = await open_limited(read=(7, 100))
    for method, path, status in (
        ("DELETE", "/api/nothing", 404),
        ("POST", "/api/workflows/nothing", 404),
        ("PUT", "/api/keys", 405),
        ("OPTIONS", "/api/keys", 200),
        ("POST", "/health", 405),
    ):
        answer = await server.ask(method, path, **one)
        assert (answer.status, answer.headers["x-ratelimit-limit"]) == (status, "7")


@pytest.mark.parametrize("cost", [1, 4])
@pytest.mark.parametrize("gap_s", [0.3, 0.7, 2.9])
def test_after_the_wait_a_request_fits_and_a_second_before_it_does_not(clock, cost, gap_s):
    limits = RateLimits(ServerOptions(rate_limits=sized(add=(7, 30))))
    scope: Scope = {"headers": []}
    for _ in range(200):
        try:
            limits.take(scope, "key", "add", cost)
        except RateLimited as exc:
            clock.now += exc.retry_after_s - 1
            with pytest.raises(RateLimited):
                limits.take(scope, "key", "add", cost)
            clock.now += 1
            limits.take(scope, "key", "add", cost)
        clock.now += gap_s
    assert int(dict(visit_of(scope).headers)[b"x-ratelimit-remaining"]) >= 0


def test_counters_that_ended_take_no_room(clock):
    limits = RateLimits(ServerOptions())
    for number in range(5000):
        address = f"10.0.{number // 250}.{number % 250}"
        limits.note_wrong_key({"client": (address, 1), "headers": []})
        clock.now += 1
    assert len(limits._storage.expirations) < 1200
