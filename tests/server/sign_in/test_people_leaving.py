"""Who is disabled, demoted, removed or erased leaves keys: the answers name those that go on, and how they end."""

import pytest

from tests.server.server_kit import error_of
from tests.server.sign_in.page import joined, told
from tests.server.storages import database_settings  # noqa: F401  # the fixture


@pytest.fixture
async def house(open_server):
    """A server with Anna, who is admin and operator, and Eve, an admin who made keys and an invitation."""
    server = await open_server()
    anna = await joined(server, "anna", "admin", is_operator=True)
    return server, anna, await joined(server, "eve", "admin")


async def make(by, role: str = "write", **reach):
    """The text and the id of a key that somebody made."""
    made = told(await by.ask("POST", "/api/keys", {"role": role, "label": f"for {role}", **reach}))
    return made["key"], made["id"]


def id_of(server, name: str):
    return server.parts.access.users.user_by_name(name).id


async def opens(server, key: str):
    return (await server.ask("GET", "/api/me", x_api_key=key)).status == 200


@pytest.mark.parametrize("change", [{"disabled": True}, {"role": "read"}, {"projects": ["kitchen"]}])
async def test_a_change_names_the_keys_that_somebody_made(house, change):
    server, anna, eve = house
    _, made = await make(eve, "admin")
    _, own = await make(eve, "write", user="eve")
    _, ended = await make(eve)
    _, of_anna = await make(anna)
    told(await anna.ask("DELETE", f"/api/keys/{ended}"))
    invitation = told(await eve.ask("POST", "/api/invitations", {"role": "admin"}))
    left = told(await anna.ask("PATCH", f"/api/users/{id_of(server, 'eve')}", change))
    assert [key["id"] for key in left["live_keys"]] == [made, own]
    first = left["live_keys"][0]
    assert (first["label"], first["role"], first["user"], first["projects"]) == ("for admin", "admin", None, None)
    assert [one["id"] for one in left["open_invitations"]] == [invitation["id"]]
    for one in (*left["live_keys"], *left["open_invitations"]):
        method, target = one["end"].split(" ")
        assert (await anna.ask(method, target)).status < 300
    assert told(await anna.ask("PATCH", f"/api/users/{id_of(server, 'eve')}", change))["live_keys"] == []
    assert of_anna not in str(left)


async def test_keys_that_were_made_by_such_a_key_are_named_too(house):
    server, anna, eve = house
    text, first = await make(eve, "admin")
    body = {"role": "write", "label": "made by a key"}
    second = told(await server.ask("POST", "/api/keys", body, x_api_key=text))["id"]
    left = told(await anna.ask("DELETE", f"/api/users/{id_of(server, 'eve')}"))
    assert [key["id"] for key in left["live_keys"]] == [first, second]


async def test_who_is_removed_keeps_no_key_of_their_own(house):
    server, anna, eve = house
    own, own_id = await make(anna, "write", user="eve")
    made, made_id = await make(eve, "read")
    left = told(await anna.ask("DELETE", f"/api/users/{id_of(server, 'eve')}"))
    assert (left["removed"], left["ended_keys"]) == ("eve", [own_id])
    assert [key["id"] for key in left["live_keys"]] == [made_id]
    assert (await opens(server, own), await opens(server, made)) == (False, True)
    assert (await eve.ask("GET", "/api/me")).status == 401


async def test_keys_of_memories_that_are_somebody_else_s_too_go_on_and_are_named(house):
    server, anna, _ = house
    await joined(server, "ben", memory_user="eve")
    key, id = await make(anna, "write", user="eve")
    left = told(await anna.ask("DELETE", f"/api/users/{id_of(server, 'eve')}"))
    assert (left["ended_keys"], [one["id"] for one in left["live_keys"]]) == ([], [id])
    assert await opens(server, key)


async def test_an_erasure_names_the_keys_that_the_person_made_for_others(house):
    server, anna, eve = house
    own, _ = await make(eve, "write", user="eve")
    made, made_id = await make(eve, "admin")
    report = told(await anna.ask("POST", "/api/subjects/eve/erase"))
    assert [key["id"] for key in report["live_keys"]] == [made_id]
    assert (await opens(server, own), await opens(server, made)) == (False, True)


async def test_an_erasure_names_the_keys_of_somebody_who_was_removed_before(house):
    server, anna, eve = house
    made, made_id = await make(eve, "admin")
    told(await anna.ask("DELETE", f"/api/users/{id_of(server, 'eve')}"))
    report = told(await anna.ask("POST", "/api/subjects/eve/erase"))
    assert [key["id"] for key in report["live_keys"]] == [made_id]
    assert await opens(server, made)


async def test_an_admin_sees_no_key_of_another_tenant(house):
    server, _, eve = house
    await make(eve, "admin")
    dora = await joined(server, "dora", "admin", tenant="acme")
    await joined(server, "fred", tenant="acme")
    left = told(await dora.ask("PATCH", f"/api/users/{id_of(server, 'fred')}", {"disabled": True}))
    assert (left["live_keys"], left["open_invitations"]) == ([], [])
    assert error_of(await dora.ask("DELETE", f"/api/users/{id_of(server, 'eve')}"))[0] == 404
