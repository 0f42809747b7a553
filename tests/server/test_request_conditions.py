"""Nothing is deleted, given or changed by what was not understood: each condition narrows or is refused by name."""

import itertools
import re
from urllib.parse import quote

import pytest

from mnemoir.server.app import TABLE
from tests.narrowing import present
from tests.server.route_table import known_body
from tests.server.server_kit import Server, error_of, succeeded

MEMORIES = "/api/memories"
ADMIN = "admin-of-all-and-operator"
# the routes that the promise is about, as they are called; each is found in the table, so none is forgotten
TAKING = ("/merge", "/undo", "/refuse", "/prune", "/erase", "/export", "/import", "/cleanup", "/retention/run")
OF_OTHERS = ("/api/chat", "/api/generate", "/api/pull", "/api/push", "/api/create", "/api/copy", "/api/delete")


def named(path: str) -> str:
    return re.sub(r"\{[^}]+\}", "mira", path)


def of_our_own(*, deleting: bool) -> list[tuple[str, str]]:
    """Method and path of every route that takes away, changes or decides something, or of every list and search."""
    found = []
    for route in TABLE.routes:
        for method in present(route.methods) - {"HEAD"}:
            decides = method != "GET" and route.says.right not in ("read", "write") and not route.says.asks
            takes = decides or method in ("DELETE", "PATCH", "PUT") or route.path.endswith(TAKING)
            is_asked = takes if deleting else (method == "GET" and not takes) or route.path.endswith("/search")
            if is_asked and route.says.needs_credential and route.path not in OF_OTHERS and route.says.by_cookie:
                found.append((method, named(route.path)))
    return sorted(found)


@pytest.fixture
async def kept(open_server):
    """A server with a key, what Mira keeps in it, and a function that tells all there is to lose."""
    server = await open_server(api_keys=[ADMIN], admin_api_key=ADMIN)
    headers = {"x_api_key": ADMIN}
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False}
    await server.post(MEMORIES, said, **headers)
    chat = {"model": "mnemoir", "messages": [{"role": "user", "content": "Hello"}], "user": "mira"}
    succeeded(await server.ask("POST", "/v1/chat/completions", chat | {"conversation_id": "mira"}, **headers))

    async def tell() -> list[object]:
        lists = ("/api/memories/mira", "/api/conversations?user_id=mira", "/api/keys", "/api/users", "/api/holds")
        return [await server.get(target, **headers) for target in lists]

    return server, headers, tell


async def refuses(server: Server, headers: dict[str, str], method: str, target: str) -> tuple[int, str]:
    answer = await server.ask(method, target, **headers)
    assert 400 <= answer.status < 500, (method, target, answer.body)
    return error_of(answer)


@pytest.mark.costly("it asks all routes")
async def test_whatever_takes_something_away_refuses_what_it_does_not_know(kept):
    server, headers, tell = kept
    before, routes = await tell(), of_our_own(deleting=True)
    assert {("DELETE", MEMORIES), ("POST", "/api/subjects/mira/erase"), ("GET", "/api/export")} <= set(routes)
    assert len(routes) > 30
    for method, path in routes:
        assert await refuses(server, headers, method, f"{path}?zzz=1") == (400, "unknown_parameter"), path
        assert await refuses(server, headers, method, f"{path}?_=1&utm_source=x&zzz=1") == (400, "unknown_parameter")
        twice = await refuses(server, headers, method, f"{path}?org_id=default&org_id=default")
        assert (twice, path) == ((400, "repeated_parameter"), path)
        for doubled in (path.replace("/api/", "/api//"), f"/{path}", f"{path[:5]}/{path[5:]}"):
            assert (await refuses(server, headers, method, doubled), doubled) == ((400, "missing_name"), doubled)
    assert await tell() == before


@pytest.mark.parametrize("name", ["if_match", "if_unmodified_since"])
async def test_nothing_is_deleted_in_a_version_that_it_does_not_have(kept, name):
    server, headers, tell = kept
    before = await tell()
    for path in (f"{MEMORIES}?user_id=mira", "/api/conversations/mira?user_id=mira"):
        refused = await server.ask("DELETE", path, **headers, **{name: '"an older one"'})
        assert (error_of(refused), path) == ((412, "changed_meanwhile"), path)
    starred = await server.ask("DELETE", f"{MEMORIES}?user_id=mira", **headers, **{name: "*"})
    assert starred.status == (200 if name == "if_match" else 412)
    assert (await tell() == before) == (name != "if_match")


async def test_every_list_and_search_refuses_a_query_parameter_that_it_does_not_know(kept):
    server, headers, _ = kept
    routes = of_our_own(deleting=False)
    assert {("GET", MEMORIES), ("POST", f"{MEMORIES}/search"), ("GET", "/api/runs")} <= set(routes)
    for method, path in routes:
        told = await refuses(server, headers, method, f"{path}?zzz=1")
        assert (told, method, path) == ((400, "unknown_parameter"), method, path)


@pytest.mark.costly("it asks all routes")
async def test_no_delete_and_nothing_like_it_takes_a_body_that_it_does_not_know(kept):
    server, headers, tell = kept
    before = await tell()
    exact = [
        (method, named(route.path))
        for route in TABLE.routes
        for method in present(route.methods) - {"HEAD", "GET"}
        if route.says.exact and not route.says.reads_body
    ]
    assert {"POST", "PUT", "PATCH", "DELETE"} == {method for method, _ in exact}
    assert {("POST", "/api/keys"), ("POST", "/api/invitations"), ("PUT", f"{MEMORIES}/settings")} <= set(exact)
    for method, path in exact:
        refused = await server.ask(method, path, {"zzz": 1}, **headers)
        assert (error_of(refused), path) == ((400, "unknown_parameter"), path)
        assert b"zzz" in refused.body
    for body in (b"[1]", b'"all"', b"user_id=mira&run_id=r1", b"\xff", b"{", b"true"):
        refused = await server.ask("DELETE", f"{MEMORIES}?user_id=mira", body, **headers)
        assert (error_of(refused), body) == ((400, "unknown_parameter"), body)
    assert await tell() == before


MISTAKEN = (
    ("POST", "/api/keys", {"role": "read", "user_id": "mira"}, "user"),
    ("POST", "/api/keys", {"role": "read", "project": "kitchen"}, "projects"),
    ("POST", "/api/keys", {"role": "read", "expires": "2030-01-01T00:00:00Z"}, "expires_at"),
    ("POST", "/api/invitations", {"role": "read", "project": "kitchen"}, "projects"),
    ("PATCH", "/api/users/mira", {"disable": True}, "disabled"),
    ("PUT", "/api/tenants", {"name": "default", "suspend": True}, "suspended"),
    ("PUT", f"{MEMORIES}/settings", {"memories_days": 3}, "memoriesDays"),
    ("PUT", "/api/me/password", {"old": "x", "password": "y"}, "new"),
    ("PATCH", "/api/conversations/mira?user_id=mira", {"keep_for_ever": True}, "keep"),
    ("PUT", "/api/conversations/mira/head?user_id=mira", {"message": 1}, "message_id"),
    ("PATCH", "/api/conversations/mira/messages/1?user_id=mira", {"pinned": True, "text": "x"}, "pinned"),
    ("PATCH", f"{MEMORIES}/mira?user_id=mira", {"memory": "x", "text": "y"}, "memory"),
    ("PATCH", f"{MEMORIES}/mira?user_id=mira", {"memory": "x", "created_at": "1999-01-01"}, "metadata"),
    ("PATCH", f"{MEMORIES}/proposals/mira?user_id=mira", {"memory": "x", "approve": True}, "memory"),
)


async def test_a_right_or_a_limit_of_another_name_is_refused_with_the_known_ones(kept):
    server, headers, tell = kept
    before = await tell()
    for method, target, body, known in MISTAKEN:
        refused = await server.ask(method, target, body, **headers)
        assert (error_of(refused), target) == ((400, "unknown_parameter"), target)
        assert known in refused.body.decode(), target
    assert await tell() == before


async def test_an_export_with_a_condition_in_its_body_is_refused(kept):
    server, headers, _ = kept
    exports = [route for route in TABLE.routes if route.says.exact and "GET" in present(route.methods)]
    assert {"/api/export", "/api/conversations/export"} <= {route.path for route in exports}
    for route in exports:
        for body in ({"user_id": "mira"}, ["mira"], b"user_id=mira"):
            refused = await server.ask("GET", named(route.path), body, **headers)
            assert (error_of(refused), route.path) == ((400, "unknown_parameter"), route.path)
    assert (await server.ask("GET", "/api/export?user_id=mira", b" {} ", **headers)).status == 200


async def test_a_percent_sign_that_encodes_nothing_is_not_guessed_at(kept):
    server, headers, tell = kept
    before = await tell()
    for target in (
        f"{MEMORIES}?user_id=mira%",
        f"{MEMORIES}?user_id=%zzmira",
        "/api/holds/mi%ra",
        "/api/holds/mira%2",
    ):
        assert await refuses(server, headers, "DELETE", target) == (400, "invalid_encoding"), target
    assert (await server.get("/api/runs?q=100%", **headers))["results"] == []
    assert await tell() == before


async def test_a_member_that_is_there_twice_is_refused_in_what_takes_something_away(kept):
    server, headers, tell = kept
    before = await tell()
    for body in (
        b'{"user_id": "nobody", "user_id": "mira", "all": true}',
        b'{"user_id": "mira", "all": false, "all": true}',
        b'{"user_id": "mira", "all": true, "\\u0061ll": true}',
    ):
        refused = await server.ask("POST", f"{MEMORIES}/proposals/refuse", body, **headers)
        assert (error_of(refused), body) == ((400, "repeated_parameter"), body)
    assert await tell() == before


@pytest.mark.costly("it asks all routes")
async def test_every_route_of_our_own_refuses_a_body_with_a_member_that_is_there_twice(kept):
    server, headers, tell = kept
    before = await tell()
    routes = [
        (method, named(route.path), route.says.members[0])
        for route in TABLE.routes
        for method in present(route.methods) - {"HEAD", "GET"}
        if route.says.members
    ]
    assert {("POST", MEMORIES), ("PUT", f"{MEMORIES}/settings"), ("PUT", "/api/model")} <= {one[:2] for one in routes}
    for method, path, member in routes:
        for body in (f'{{"{member}": {{}}, "{member}": {{}}}}', f'{{"{member}": [{{"a": 1, "\\u0061": 1}}]}}'):
            refused = await server.ask(method, path, body.encode(), **headers)
            if refused.status != 403:  # of what may be changed from a page alone
                assert (error_of(refused), method, path) == ((400, "repeated_parameter"), method, path)
    assert await tell() == before


async def test_a_member_twice_in_the_metadata_of_a_query_deletes_nothing(kept):
    server, headers, tell = kept
    before = await tell()
    twice = quote('{"topic": "tea", "topic": ["food"]}')
    for method in ("DELETE", "GET"):
        refused = await refuses(server, headers, method, f"{MEMORIES}?user_id=mira&metadata={twice}")
        assert refused == (400, "repeated_parameter")
    assert await tell() == before


@pytest.mark.parametrize("path", ["/api/conversations/prune", "/api/conversations/node-memory/cleanup", MEMORIES])
async def test_a_dry_run_of_null_is_neither_a_dry_run_nor_none(kept, path):
    server, headers, tell = kept
    before = await tell()
    body = {"user_id": "mira", "days": 0, "dry_run": None, "infer": False}
    body |= {"messages": [{"role": "user", "content": "Likes cake"}]}
    known = known_body(next(route.says for route in TABLE.routes if route.path == path), body)
    refused = await server.ask("POST", path, known, **headers)
    assert (error_of(refused), b"dry_run" in refused.body) == ((422, "validation_error"), True)
    assert await tell() == before


async def test_a_large_body_is_looked_at_too(kept):
    server, headers, _ = kept
    large = {"messages": [{"role": "user", "content": "x" * 100_000}], "zzz": 1}
    refused = await server.ask("POST", "/api/discussions/mira/rebuild", large, **headers)
    assert error_of(refused) == (400, "unknown_parameter")


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b" {} \n"])
@pytest.mark.parametrize("target", [f"{MEMORIES}/?user_id=mira", f"{MEMORIES}?user_id=mira&_=1&utm_source=x&_t=2"])
async def test_a_body_that_says_nothing_and_marks_of_caches_and_links_are_ignored(kept, body, target):
    server, headers, _ = kept
    assert succeeded(await server.ask("DELETE", target, body, **headers))["deleted"] == 1


UNKNOWN = (
    *("run=r1", "session_id=r1", "q=tea", "dry_run=true", "USER_ID=mira", "user_id%20=mira", "user_id[]=mira"),
    *("filters={}", "categories=food", "before=2026-01-01", "limit=1", "kind=fact", "=x", "x", "user=mira"),
)


async def test_a_condition_of_another_name_forgets_nothing(kept):
    server, headers, tell = kept
    before = await tell()
    for condition in UNKNOWN:
        for target in (f"{MEMORIES}?user_id=mira&{condition}", f"{MEMORIES}/?{condition}&user_id=mira"):
            assert (await refuses(server, headers, "DELETE", target), target) == ((400, "unknown_parameter"), target)
    for twice in ("user_id=nobody&user_id=mira", "user_id=mira&user_id=mira", "run_id=a&run_id=b&user_id=mira"):
        refused = await refuses(server, headers, "DELETE", f"{MEMORIES}?{twice}")
        assert (refused, twice) == ((400, "repeated_parameter"), twice)
    assert await tell() == before


async def test_the_refusal_names_the_parameter_and_what_is_known(kept):
    server, headers, _ = kept
    answer = await server.ask("DELETE", f"{MEMORIES}?user_id=mira&session_id=r1", **headers)
    for told in ("session_id", "run_id", "nothing was done"):
        assert told in answer.body.decode()


async def test_the_tenant_and_the_project_of_other_services_are_the_callers_or_refused(open_server):
    server = await open_server()
    make = server.parts.access.api_keys.create
    kitchen = {"x_api_key": make(role="admin", projects=["kitchen"], by="test")[1]}
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False}
    await server.post(f"{MEMORIES}?project_id=kitchen", said, **kitchen)
    for query in ("org_id=acme", "project_id=shed", "org_id=", "project_id=kitchen&org_id=other"):
        for method in ("GET", "DELETE"):
            refused = await refuses(server, kitchen, method, f"{MEMORIES}?user_id=mira&{query}")
            assert (refused, query) == ((403, "forbidden"), query)
    both = await refuses(server, kitchen, "DELETE", f"{MEMORIES}?user_id=mira&project=kitchen&project_id=shed")
    assert both[0] == 400
    nowhere = await refuses(
        server, {"x_api_key": make(role="admin", by="test")[1]}, "DELETE", "/api/model?project_id=x"
    )
    assert nowhere == (400, "unknown_parameter")
    gone = await server.ask("DELETE", f"{MEMORIES}?user_id=mira&org_id=default&project_id=kitchen", **kitchen)
    assert succeeded(gone)["deleted"] == 1


async def test_a_body_names_the_tenant_and_the_project_of_other_services_too(open_server):
    server = await open_server()
    make = server.parts.access.api_keys.create
    admin = {"x_api_key": make(role="admin", by="test")[1]}
    bound = {"x_api_key": make(role="admin", projects=["kitchen"], by="test")[1]}
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False}
    asked, hosted = {"query": "tea", "user_id": "mira"}, {"org_id": "default", "project_id": "kitchen"}
    await server.post(MEMORIES, said | hosted, **admin)
    for headers, names, count in ((admin, hosted, 1), (admin, {}, 0), (bound, {}, 1)):
        found = await server.post(f"{MEMORIES}/search", asked | names, **headers)
        assert (len(found["results"]), names) == (count, names)
    for path, body in ((MEMORIES, said), (f"{MEMORIES}/search", asked)):
        for names in ({"org_id": "acme"}, {"project_id": "shed"}):
            refused = await server.ask("POST", path, body | names, **bound)
            assert (error_of(refused), names) == ((403, "forbidden"), names)
        assert (await server.ask("POST", f"{path}?project=shed", body | hosted, **admin)).status == 400


async def test_the_key_of_one_user_must_name_the_user_whose_memories_all_go(open_server):
    server = await open_server()
    noa = {"x_api_key": server.parts.access.api_keys.create(role="admin", user="noa", by="test")[1]}
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "infer": False}
    await server.post(MEMORIES, said, **noa)
    for target in (MEMORIES, f"{MEMORIES}/", f"{MEMORIES}/?user_id=", f"{MEMORIES}?user_id=%20"):
        assert await refuses(server, noa, "DELETE", target) == (400, "missing_user_id")
    assert succeeded(await server.ask("DELETE", f"{MEMORIES}/?user_id=noa", **noa))["deleted"] == 1


async def test_bytes_that_are_no_text_never_make_one_user_of_two(server):
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "j\ufffdrgen", "infer": False}
    await server.post(MEMORIES, said)
    for sent in ("j%FCrgen", "j%FFrgen", "j%ED%A0%80rgen", "j%C3rgen"):
        for method, target in (
            ("DELETE", f"{MEMORIES}?user_id={sent}"),
            ("GET", f"{MEMORIES}?user_id={sent}"),
            ("GET", f"{MEMORIES}/{sent}"),
            ("POST", f"/api/subjects/{sent}/erase"),
        ):
            assert (await refuses(server, {}, method, target), target) == ((400, "invalid_encoding"), target)
    assert (await server.get(f"{MEMORIES}/j%EF%BF%BDrgen"))["total"] == 1


async def test_bytes_that_are_no_text_are_refused_in_every_path_with_a_name(kept):
    server, headers, tell = kept
    before = await tell()
    routes = [(method, one) for one in TABLE.routes for method in present(one.methods) - {"HEAD"} if "{" in one.path]
    assert len(routes) > 60
    for method, route in routes:
        sent = re.sub(r"\{[^}]+\}", "a%FFb", route.path)
        if route.path.endswith(".json") or not route.says.needs_credential:
            continue
        refused = await refuses(server, headers, method, sent)
        assert (refused, method, sent) == ((400, "invalid_encoding"), method, sent)
    assert await tell() == before


SCOPES = {"user_id", "user", "from_user", "tenant", "project", "agent_id", "app_id", "run_id", "conversation_id"}
EMPTY = {(422, "validation_error"), (400, "missing_user_id"), (400, "invalid_project")}


@pytest.mark.costly("it asks all routes")
async def test_a_name_without_a_character_is_never_everybody(kept):
    server, headers, tell = kept
    before, asked = await tell(), set()
    body = {"query": "x", "reason": "x", "days": 1, "older_than_days": 1, "all": True, "memory": "x", "title": "x"}
    for route in TABLE.routes:
        names = SCOPES & {*present(route.says.query)} if route.says.is_own else set()
        for method, name in itertools.product(present(route.methods) - {"HEAD"}, sorted(names)):
            known = None if method in ("GET", "DELETE") else known_body(route.says, body)
            for value in ("", "%20"):
                answer = await server.ask(method, f"{named(route.path)}?{name}={value}", known, **headers)
                told = error_of(answer) if 400 <= answer.status < 500 else (answer.status, "")
                is_earlier = told[0] in (403, 422) or told[1] in (
                    "invalid_request",
                    "invalid_json",
                    "missing_user_id",
                )
                assert told in EMPTY or is_earlier, (method, route.path, name, told)
            asked.add((method, route.path, name))
    assert {("GET", "/api/export", "user_id"), ("DELETE", "/api/holds/{user_id}", "tenant")} <= asked
    assert await tell() == before


async def test_an_id_of_anybody_is_not_taken_for_a_user_without_a_name(kept):
    server, headers, tell = kept
    before = await tell()
    (memory,) = (await server.get(f"{MEMORIES}/mira", **headers))["results"]
    for method, below, body in (("DELETE", "", None), ("PATCH", "", {"memory": "x"}), ("GET", "/history", None)):
        refused = await server.ask(method, f"{MEMORIES}/{memory['id']}{below}?user_id=%20", body, **headers)
        assert error_of(refused) == (422, "validation_error")
    assert await tell() == before


async def test_headers_that_name_two_projects_or_users_are_refused(kept):
    server, headers, tell = kept
    two = {"x_mnemoir_project": "default", "x_etienne_project": "kitchen"}
    before = await tell()
    for method, target in (("DELETE", f"{MEMORIES}?user_id=mira"), ("POST", "/api/subjects/mira/erase")):
        assert await refuses(server, headers | two, method, target) == (400, "several_headers")
    chat = {"model": "mnemoir", "messages": [{"role": "user", "content": "Hello"}]}
    refused = await server.ask("POST", "/v1/chat/completions", chat, **headers, **two)
    assert error_of(refused) == (400, "several_headers")
    assert await tell() == before
    same = {"x_mnemoir_project": "default", "x_etienne_project": " default "}
    assert succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira", **headers, **same))["deleted"] == 1


async def test_a_byte_order_mark_before_a_body_is_no_part_of_it(kept):
    server, headers, _ = kept
    mark = b"\xef\xbb\xbf"
    found = await server.ask("POST", f"{MEMORIES}/search", mark + b'{"query": "tea", "user_id": "mira"}', **headers)
    assert len(succeeded(found)["results"]) == 1
    twice = await server.ask("POST", f"{MEMORIES}/search", mark + b'{"query": "tea", "query": "x"}', **headers)
    assert error_of(twice) == (400, "repeated_parameter")
    for body in (mark + b"{}", mark + b" null"):
        succeeded(await server.ask("DELETE", f"{MEMORIES}?user_id=mira", body, **headers))


async def test_a_slash_behind_a_name_is_a_name_that_is_missing_but_behind_memories(kept):
    server, headers, _ = kept
    for path in ("/api/holds/mira/", "/api/keys/mira/", "/api/conversations/mira/", "/api/users/", "/api/holds/"):
        assert (await refuses(server, headers, "DELETE", path), path) == ((400, "missing_name"), path)


def test_no_route_is_exact_without_being_walked_above():
    walked = {path for _, path in of_our_own(deleting=True)}
    more = {"/api/memories/plans/mira/apply", "/api/memories/mira/restore", "/api/discussions/mira/rebuild"}
    more |= {"/api/memories/proposals/approve", "/api/memories/proposals/mira/approve", "/api/memories/batch"}
    assert {named(route.path) for route in TABLE.routes if route.says.exact} - walked == more


async def test_a_hold_is_in_all_projects_so_a_project_is_refused(kept):
    server, headers, tell = kept
    succeeded(await server.ask("PUT", "/api/holds/mira", {"reason": "a claim"}, **headers))
    before = await tell()
    for method, body in (("PUT", {"reason": "another"}), ("DELETE", None)):
        for name in ("project", "project_id"):
            refused = await server.ask(method, f"/api/holds/mira?{name}=kitchen", body, **headers)
            assert (error_of(refused), method) == ((400, "unknown_parameter"), method)
    assert await tell() == before


async def test_whoever_has_some_projects_sees_the_holds_on_users_in_them(kept):
    server, headers, _ = kept
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "noa", "infer": False}
    await server.post(f"{MEMORIES}?project=kitchen", said, **headers)
    for user in ("mira", "noa", "nobody"):
        succeeded(await server.ask("PUT", f"/api/holds/{user}", {"reason": "a claim"}, **headers))
    key = server.parts.access.api_keys.create(role="admin", projects=["kitchen"], by="test")[1]
    assert [one["user_id"] for one in (await server.get("/api/holds", x_api_key=key))["results"]] == ["noa"]
