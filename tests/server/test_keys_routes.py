"""`/api/keys` and `/api/tenants` over HTTP: who may make which keys."""

import asyncio
import json
from itertools import product

import pytest

from mnemoir.core.users import Grant
from tests.server.server_kit import error_of, succeeded
from tests.server.sign_in.page import PASSWORD, joined
from tests.server.storages import database_settings  # noqa: F401  # the fixture

KEYS = "/api/keys"


@pytest.fixture
async def keyed(open_server):
    """A server with an admin and an operator; the headers of each."""
    server = await open_server()
    make = server.parts.access.api_keys.create
    headers = {role: {"x_api_key": make(role=role, by="test")[1]} for role in ("read", "write", "admin", "operator")}
    return server, headers


def key_of(server, **granted):
    """The headers of a new key, and its id."""
    key, text = server.parts.access.api_keys.create(by="test", **granted)
    return {"x_api_key": text}, key.id


async def made(server, body, headers):
    answer = await server.ask("POST", KEYS, body, **headers)
    assert answer.status == 201, answer.body
    assert answer.headers["cache-control"] == "no-store"
    return json.loads(answer.body)


async def test_a_key_is_in_the_answer_to_its_making_and_nowhere_else(keyed):
    server, headers = keyed
    key = await made(server, {"role": "write", "user": "anna", "label": "phone"}, headers["admin"])
    listed = await server.ask("GET", KEYS, **headers["admin"])
    assert key["key"].encode() not in listed.body
    assert (await server.ask("GET", "/api/projects", x_api_key=key["key"])).status == 200
    ours = [one for one in json.loads(listed.body)["results"] if one["label"] == "phone"]
    assert [(one["user"], one["role"], one["created_by"] != "") for one in ours] == [("anna", "write", True)]


async def test_a_server_that_lets_everybody_in_makes_no_first_key(server):
    assert error_of(await server.ask("POST", KEYS, {"role": "admin"})) == (403, "first_key_on_machine")
    assert error_of(await server.ask("PUT", "/api/tenants", {"name": "acme"})) == (403, "first_key_on_machine")
    assert (await server.get(KEYS))["results"] == []


@pytest.mark.parametrize(
    "wanted",
    [{"role": "operator"}, {"role": "read", "tenant": "acme"}],
)
async def test_an_admin_gives_no_more_than_it_has(keyed, wanted):
    server, headers = keyed
    assert error_of(await server.ask("POST", KEYS, wanted, **headers["admin"])) == (403, "forbidden")


@pytest.mark.parametrize(
    "wanted",
    [{}, {"user": "mira"}, {"user": "noa", "projects": ["kitchen", "garden"]}, {"user": "noa"}],
)
async def test_a_bound_admin_makes_keys_of_its_own_part_alone(keyed, wanted):
    server, headers = keyed
    own = {
        "x_api_key": (
            await made(server, {"role": "admin", "user": "noa", "projects": ["kitchen"]}, headers["admin"])
        )["key"]
    }
    assert error_of(await server.ask("POST", KEYS, {"role": "read"} | wanted, **own)) == (403, "forbidden")
    await made(server, {"role": "read", "user": "noa", "projects": ["kitchen"]}, own)
    assert {(one["user"], *one["projects"]) for one in (await server.get(KEYS, **own))["results"]} == {
        ("noa", "kitchen")
    }


async def test_keys_of_another_tenant_are_as_unknown_as_none(keyed):
    server, headers = keyed
    acme, theirs = key_of(server, role="admin", tenant="acme")
    assert [one["id"] for one in (await server.get(KEYS, **acme))["results"]] == [theirs]
    assert [one["name"] for one in (await server.get("/api/tenants", **acme))["results"]] == ["acme"]
    [ours, *_] = (await server.get(f"{KEYS}?tenant=default", **headers["operator"]))["results"]
    for method, path in (("DELETE", f"{KEYS}/{{}}"), ("POST", f"{KEYS}/{{}}/rotate")):
        answers = [await server.ask(method, path.format(id), {}, **acme) for id in (ours["id"], "aaaaaaaa")]
        assert [error_of(answer) for answer in answers] == [(404, "key_not_found")] * 2


async def test_a_key_is_rotated_and_revoked(keyed):
    server, headers = keyed
    old = await made(server, {"role": "read"}, headers["admin"])
    rotated = await server.ask("POST", f"{KEYS}/{old['id']}/rotate", {"overlap_h": 0}, **headers["admin"])
    new = json.loads(rotated.body)
    assert (await server.ask("GET", "/api/projects", x_api_key=old["key"])).status == 401
    assert (await server.ask("GET", "/api/projects", x_api_key=new["key"])).status == 200
    ended = succeeded(await server.ask("DELETE", f"{KEYS}/{new['id']}", **headers["admin"]))
    assert (ended["state"], (await server.ask("GET", "/api/projects", x_api_key=new["key"])).status) == (
        "revoked",
        401,
    )


async def test_of_many_rotations_of_a_key_at_once_one_makes_its_successor(keyed):
    server, headers = keyed
    old = await made(server, {"role": "read"}, headers["admin"])
    turns = (server.ask("POST", f"{KEYS}/{old['id']}/rotate", {}, **headers["admin"]) for _ in range(20))
    answers = sorted(await asyncio.gather(*turns), key=lambda answer: answer.status)
    successor = json.loads(answers[0].body)["id"]
    assert [answer.status for answer in answers] == [201] + [409] * 19
    assert {error_of(answer) for answer in answers[1:]} == {(409, "already_rotated")}
    assert all(f"replaced by key {successor}" in answer.body.decode() for answer in answers[1:])
    listed = (await server.get(KEYS, **headers["admin"]))["results"]
    assert [one["replaced_by"] for one in listed if one["id"] in (old["id"], successor)] == [successor, None]
    entries = (await server.get("/api/audit?action=keys.rotate", **headers["operator"]))["results"]
    assert [one["target"] for one in entries if one["result"] == "done"] == [successor]


async def test_an_operator_suspends_a_tenant_and_reads_no_contents(keyed):
    server, headers = keyed
    acme, _ = key_of(server, role="admin", tenant="acme")
    succeeded(await server.ask("PUT", "/api/tenants", {"name": "acme", "suspended": True}, **headers["operator"]))
    assert (await server.ask("GET", "/api/projects", **acme)).status == 401
    assert error_of(await server.ask("PUT", "/api/tenants", {"name": "acme"}, **headers["admin"])) == (
        403,
        "forbidden",
    )
    assert error_of(await server.ask("GET", "/api/export", **headers["operator"])) == (403, "forbidden")
    assert (await server.ask("GET", "/api/status", **headers["operator"])).status == 200


async def test_a_suspended_tenant_stays_so_until_it_is_let_go_on(keyed):
    server, headers = keyed
    acme, _ = key_of(server, role="admin", tenant="acme")
    for body in ({"suspended": True}, {"limits": {"memories": 2}}, {"retention": {"memories_days": 365}}):
        succeeded(await server.ask("PUT", "/api/tenants", {"name": "acme"} | body, **headers["operator"]))
        assert (await server.ask("GET", "/api/projects", **acme)).status == 401
    succeeded(await server.ask("PUT", "/api/tenants", {"name": "acme", "suspended": False}, **headers["operator"]))
    assert (await server.ask("GET", "/api/projects", **acme)).status == 200


async def test_a_bound_admin_pages_through_the_keys_of_its_part_and_learns_no_other_id(keyed):
    server, headers = keyed
    own = await made(server, {"role": "admin", "user": "noa"}, headers["admin"])
    other = await made(server, {"role": "read"}, headers["admin"])
    last = await made(server, {"role": "read", "user": "noa"}, headers["admin"])
    first, second = await pages(server, {"x_api_key": own["key"]})
    assert ([one["id"] for one in first["results"]], first["next"]) == ([own["id"]], own["id"])
    assert ([one["id"] for one in second["results"]], second["next"]) == ([last["id"]], None)
    assert other["id"] not in json.dumps([first, second])


async def pages(server, headers) -> list[dict]:
    found = [await server.get(f"{KEYS}?limit=1", **headers)]
    while cursor := found[-1]["next"]:
        found.append(await server.get(f"{KEYS}?limit=1&cursor={cursor}", **headers))
    return found


async def test_keys_are_listed_page_by_page(keyed):
    server, headers = keyed
    seen, cursor = [], ""
    while cursor is not None:
        page = await server.get(f"{KEYS}?limit=3{cursor and f'&cursor={cursor}'}", **headers["operator"])
        seen += [one["role"] for one in page["results"]]
        cursor = page["next"]
    assert sorted(seen) == ["admin", "operator", "read", "write"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "role"),
        ({"role": "read", "projects": []}, "projects"),
        ({"role": "read", "expires_at": "soon"}, "expires_at"),
    ],
)
async def test_a_wrong_body_names_its_field(keyed, body, field):
    server, headers = keyed
    answer = await server.ask("POST", KEYS, body, **headers["admin"])
    assert (answer.status, field.encode() in answer.body) == (422, True)


async def test_the_quotas_of_a_key_are_told_wherever_it_is(keyed):
    server, headers = keyed
    admin = headers["admin"]
    limits = {"tokens_day": 50000}
    first = await made(server, {"role": "write", "limits": limits}, admin)
    rotated = json.loads((await server.ask("POST", f"{KEYS}/{first['id']}/rotate", **admin)).body)
    listed = {key["id"]: key["limits"] for key in (await server.get(KEYS, **admin))["results"]}
    revoked = json.loads((await server.ask("DELETE", f"{KEYS}/{first['id']}", **admin)).body)
    assert [key["limits"] for key in (first, rotated, revoked)] == [limits] * 3
    assert (listed[first["id"]], listed[rotated["id"]], listed[admin["x_api_key"][8:16]]) == (limits, limits, {})


async def test_a_bound_admin_gives_no_quota_but_its_own(keyed):
    server, headers = keyed
    limits = {"tokens_day": 100}
    for part in ({"user": "noa"}, {"projects": ["kitchen"]}):
        bound = await made(server, {"role": "admin", "limits": limits, **part}, headers["admin"])
        free = await made(server, {"role": "write", **part}, headers["admin"])
        own = {"x_api_key": bound["key"]}
        asked = {"role": "write", "limits": {"tokens_day": 101}, **part}
        assert error_of(await server.ask("POST", KEYS, asked, **own)) == (403, "forbidden")
        assert error_of(await server.ask("POST", f"{KEYS}/{free['id']}/rotate", {}, **own)) == (403, "forbidden")
        copy = await made(server, {"role": "write", **part}, own)
        rotated = json.loads((await server.ask("POST", f"{KEYS}/{bound['id']}/rotate", {}, **own)).body)
        assert [copy["limits"], rotated["limits"]] == [limits] * 2


async def test_an_admin_who_signed_in_gives_keys_quotas(keyed):
    server, _ = keyed
    page = await joined(server, "anna", role="admin")
    answer = await page.ask("POST", KEYS, {"role": "write", "user": "noa", "limits": {"memories": 5}})
    assert (answer.status, json.loads(answer.body).get("limits")) == (201, {"memories": 5})


async def refused_acts(server, headers):
    """The acts in the log that were refused, with who tried them and whether it says from where."""
    found = (await server.get("/api/audit?limit=500", **headers["operator"]))["results"]
    return {
        (one["action"], one["target"], one["actor"], bool(one["address"])) for one in found if one["result"] == "403"
    }


async def test_an_operator_makes_no_key_that_opens_contents(keyed):
    server, headers = keyed
    key_of(server, role="admin", tenant="acme")
    before = [one["id"] for one in (await server.get(KEYS, **headers["operator"]))["results"]]
    bounds: list[dict[str, object]] = [{}, {"user": "anna"}, {"user": "nobody"}, {"projects": ["kitchen"]}]
    for role, tenant in product(("read", "write", "admin"), ("default", "acme", "new")):
        for bound in bounds:
            answer = await server.ask("POST", KEYS, {"role": role, "tenant": tenant, **bound}, **headers["operator"])
            assert (role, tenant, bound, error_of(answer)) == (role, tenant, bound, (403, "forbidden"))
    assert [one["id"] for one in (await server.get(KEYS, **headers["operator"]))["results"]] == before


async def test_an_operator_makes_and_rotates_keys_of_operators_and_ends_any(keyed):
    server, headers = keyed
    _, theirs = key_of(server, role="write", tenant="acme", user="cook")
    own = await made(server, {"role": "operator", "label": "pager"}, headers["operator"])
    rotated = await server.ask("POST", f"{KEYS}/{own['id']}/rotate", {}, **headers["operator"])
    assert (rotated.status, json.loads(rotated.body)["role"]) == (201, "operator")
    refused = await server.ask("POST", f"{KEYS}/{theirs}/rotate", {}, **headers["operator"])
    assert error_of(refused) == (403, "forbidden")
    for id in (theirs, headers["admin"]["x_api_key"][8:16]):
        assert succeeded(await server.ask("DELETE", f"{KEYS}/{id}", **headers["operator"]))["state"] == "revoked"


async def test_an_admin_who_is_operator_too_makes_keys_of_contents_in_its_own_tenant_alone(open_server):
    server = await open_server(api_keys=["admin-and-operator"], admin_api_key="admin-and-operator")
    boss = {"x_api_key": "admin-and-operator"}
    await made(server, {"role": "admin"}, boss)
    await made(server, {"role": "operator", "tenant": "acme"}, boss)
    assert error_of(await server.ask("POST", KEYS, {"role": "read", "tenant": "acme"}, **boss)) == (403, "forbidden")


async def test_what_exceeds_the_rights_of_a_caller_is_in_the_audit_log_with_its_address(listen, http):
    server = await listen()
    made_here = {role: key_of(server, role=role) for role in ("admin", "operator")}
    ids = {role: id for role, (_, id) in made_here.items()}
    headers = {role: key for role, (key, _) in made_here.items()}
    sent = {role: {"X-API-Key": key["x_api_key"]} for role, key in headers.items()}
    for role, path, body in (
        ("operator", KEYS, {"role": "admin", "tenant": "acme"}),
        ("operator", f"{KEYS}/{ids['admin']}/rotate", {}),
        ("admin", KEYS, {"role": "operator"}),
        ("operator", "/api/invitations", {"role": "admin"}),
        ("admin", "/api/invitations", {"role": "read", "tenant": "acme"}),
    ):
        async with http.post(server.url + path, json=body, headers=sent[role]) as answer:
            assert answer.status == 403
    assert await refused_acts(server, headers) == {
        ("keys.create", "role=admin tenant=acme", ids["operator"], True),
        ("keys.rotate", ids["admin"], ids["operator"], True),
        ("keys.create", "role=operator tenant=default", ids["admin"], True),
        ("invitations.create", "role=admin tenant=default", ids["operator"], True),
        ("invitations.create", "role=read tenant=acme", ids["admin"], True),
    }
    async with http.post(server.url + KEYS, json={"role": "read"}, headers=sent["admin"]) as answer:
        target = (await answer.json())["id"]
    [entry] = (await server.get("/api/audit?action=keys.create&limit=1", **headers["operator"]))["results"]
    assert (entry["target"], entry["result"], entry["address"]) == (target, "done", "127.0.0.1")


async def test_an_admin_ends_no_operator_and_takes_no_invitation_of_one_back(keyed):
    server, headers = keyed
    admin = {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]}
    operator, key = key_of(server, role="operator")
    invitation = server.parts.access.users.invite(Grant(role="read", is_operator=True), by="test")[0].id
    for method, target in (
        ("DELETE", f"{KEYS}/{key}"),
        ("POST", f"{KEYS}/{key}/rotate"),
        ("DELETE", f"/api/invitations/{invitation}"),
    ):
        assert (target, error_of(await server.ask(method, target, **admin))) == (target, (403, "forbidden"))
    assert (await server.ask("GET", "/api/me", **operator)).status == 200
    told = {(action, target) for action, target, *_ in await refused_acts(server, headers)}
    assert {("keys.revoke", key), ("invitations.withdraw", invitation)} <= told
    succeeded(await server.ask("DELETE", f"{KEYS}/{key}", **headers["operator"]))
    assert (await server.ask("DELETE", f"/api/invitations/{invitation}", **headers["operator"])).status == 204


async def test_a_key_whose_successor_was_revoked_gets_another_one(keyed):
    server, headers = keyed
    old = await made(server, {"role": "read"}, headers["admin"])
    rotate = f"{KEYS}/{old['id']}/rotate"
    new = json.loads((await server.ask("POST", rotate, {}, **headers["admin"])).body)
    assert error_of(await server.ask("POST", rotate, {}, **headers["admin"])) == (409, "already_rotated")
    succeeded(await server.ask("DELETE", f"{KEYS}/{new['id']}", **headers["admin"]))
    again = await server.ask("POST", rotate, {"overlap_h": 0}, **headers["admin"])
    assert (again.status, json.loads(again.body)["id"] != new["id"]) == (201, True)
    succeeded(await server.ask("DELETE", f"{KEYS}/{json.loads(again.body)['id']}", **headers["admin"]))
    assert error_of(await server.ask("POST", rotate, {}, **headers["admin"])) == (400, "key_ended")


async def test_hours_and_days_are_numbers(keyed):
    server, headers = keyed
    old = await made(server, {"role": "read"}, headers["admin"])
    wrong: tuple[object, ...] = (True, False, "24", "", [24], {}, -1, 1e999, 10**6)
    for hours in wrong:
        refused = await server.ask("POST", f"{KEYS}/{old['id']}/rotate", {"overlap_h": hours}, **headers["admin"])
        assert error_of(refused)[0] in (400, 422), hours
    for days in (True, "7", [7], 0, -1):
        body = {"role": "read", "expires_in_days": days}
        assert error_of(await server.ask("POST", "/api/invitations", body, **headers["admin"]))[0] == 422, days
    assert (
        await server.ask("POST", f"{KEYS}/{old['id']}/rotate", {"overlap_h": 1}, **headers["admin"])
    ).status == 201


async def test_who_was_let_in_and_who_may_decide_nothing_is_in_the_log_with_the_address(listen, http):
    server = await listen()
    token = server.parts.access.users.invite(Grant(role="write"), by="test")[1]
    page = {"origin": server.url}
    join = {"token": token, "name": "anna", "password": PASSWORD}
    async with http.post(f"{server.url}/api/auth/join", json=join, headers=page) as answer:
        assert answer.status == 200
    sign_in = {"name": "anna", "password": PASSWORD}
    async with http.post(f"{server.url}/api/auth/password", json=sign_in, headers=page) as answer:
        assert answer.status == 200
    bound, _ = key_of(server, role="admin", projects=["kitchen"])
    for method, target, body in (
        ("PUT", "/api/tenants", {"name": "new"}),
        ("POST", "/api/invitations", {"role": "read"}),
        ("POST", "/api/model/test", {}),
        ("DELETE", f"{KEYS}/{key_of(server, role='operator', projects=['kitchen'])[1]}", None),
    ):
        sent = {"x-api-key": bound["x_api_key"]}
        async with http.request(method, f"{server.url}{target}", json=body, headers=sent) as answer:
            assert (answer.status, target) == (403, target)
    await server.parts.access.audit.write_gathered()
    entries = (await server.get("/api/audit?limit=500", **key_of(server, role="operator")[0]))["results"]
    acts = {(one["action"], one["result"]): one["address"] for one in entries if one["actor"] != "command line"}
    named = ("users.create", "sign_in.invitation", "sign_in.password")
    assert {acts[name, "done"] for name in named} == {"127.0.0.1"}
    refused = ("tenants.put", "keys.revoke", "refused")
    assert {acts[name, "403"] for name in refused} == {"127.0.0.1"}
