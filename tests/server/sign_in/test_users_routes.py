"""Admins invite, change, disable, reset and remove users; nobody gives more than they have."""

import re

import pytest

from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.ids import MemoryId, new_proposal_id
from mnemoir.core.memories import Memory
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from tests.server.server_kit import Server, error_of, succeeded
from tests.server.sign_in.page import PASSWORD, Page, joined, told
from tests.server.storages import database_settings  # noqa: F401  # the fixture


@pytest.fixture
async def house(open_server):
    """A server with Anna, who is admin and operator, and Ben, who is neither."""
    server = await open_server()
    return server, await joined(server, "anna", "admin", is_operator=True), await joined(server, "ben")


def code_in(terminal: str) -> str:
    """The code that was printed last."""
    *_, last = re.finditer(r"Code for the first admin, for ten minutes: (\S+)", terminal)
    return last[1]


def acts_of(server: Server, name: str) -> str:
    """What stands in lists for who did something."""
    return server.parts.access.users.user_by_name(name).principal.key


async def test_an_admin_invites_by_a_link_that_the_page_opens(house):
    server, anna, _ = house
    body = {"role": "write", "name": "Cleo", "memory_user": "c", "projects": ["kitchen"], "configs": ["Ann"]}
    made = told(await anna.ask("POST", "/api/invitations", body))
    assert made["link"] == f"http://localhost/join#{made['token']}"
    [listed] = told(await anna.ask("GET", "/api/invitations"))["results"]
    assert (listed["id"], listed["name"], listed["created_by"]) == (made["id"], "Cleo", acts_of(server, "anna"))
    assert made["token"] not in str(listed)
    cleo = Page(server)
    answer = await cleo.enter("/api/auth/join", {"token": made["token"], "name": "Cleo!", "password": PASSWORD})
    assert answer.status == 200
    assert cleo.user == {
        "id": server.parts.access.users.user_by_name("cleo!").id,
        "name": "Cleo!",
        "tenant": "default",
        "role": "write",
        "operator": False,
        "memory_user": "c",
        "projects": ["kitchen"],
        "configs": ["Ann"],
        "time_zone": None,
    }
    assert told(await anna.ask("GET", "/api/invitations"))["results"] == []
    users = told(await anna.ask("GET", "/api/users?limit=2"))
    assert [user["name"] for user in users["results"]] == ["anna", "ben"]
    following = told(await anna.ask("GET", f"/api/users?limit=2&cursor={users['next']}"))
    assert ([user["name"] for user in following["results"]], following["next"]) == (["Cleo!"], None)


async def test_an_invitation_is_taken_back(house):
    server, anna, _ = house
    made = told(await anna.ask("POST", "/api/invitations", {"role": "read"}))
    assert (await anna.ask("DELETE", f"/api/invitations/{made['id']}")).status == 204
    assert error_of(await anna.ask("DELETE", f"/api/invitations/{made['id']}")) == (404, "invitation_not_found")
    late = await Page(server).ask("POST", "/api/auth/invitation", {"token": made["token"]})
    assert error_of(late) == (404, "invitation_not_found")


async def test_what_is_changed_of_a_user_counts_at_once(house):
    server, anna, ben = house
    user = server.parts.access.users.user_by_name("ben")
    said = {"messages": [{"role": "user", "content": "Rows"}], "infer": False}
    assert (await ben.ask("POST", "/api/memories", said)).status == 200
    changed = told(await anna.ask("PATCH", f"/api/users/{user.id}", {"role": "read", "memory_user": "b"}))
    assert (changed["role"], changed["memory_user"], changed["projects"]) == ("read", "b", None)
    assert (await ben.ask("POST", "/api/memories", said)).status == 403
    assert told(await ben.ask("GET", "/api/memories"))["results"] == []
    off = told(await anna.ask("PATCH", f"/api/users/{user.id}", {"disabled": True}))
    assert (off["disabled"], (await ben.ask("GET", "/api/me")).status, (await ben.sign_in("ben")).status) == (
        True,
        401,
        401,
    )
    assert error_of(await anna.ask("POST", f"/api/users/{user.id}/reset")) == (400, "user_disabled")
    assert told(await anna.ask("PATCH", f"/api/users/{user.id}", {"disabled": False}))["disabled"] is False
    assert (await ben.sign_in("ben")).status == 200
    assert told(await anna.ask("DELETE", f"/api/users/{user.id}"))["removed"] == "ben"
    assert error_of(await anna.ask("PATCH", f"/api/users/{user.id}", {})) == (404, "user_not_found")
    assert (await ben.ask("GET", "/api/me")).status == 401


async def test_a_reset_gives_a_new_password_and_ends_all_that_was(house):
    server, anna, ben = house
    user = server.parts.access.users.user_by_name("ben")
    former = told(await anna.ask("POST", f"/api/users/{user.id}/reset"))
    made = told(await anna.ask("POST", f"/api/users/{user.id}/reset"))
    assert (await ben.ask("GET", "/api/me")).status == 200
    what_for = told(await Page(server).ask("POST", "/api/auth/invitation", {"token": made["token"]}))
    assert (what_for["name"], what_for["resets"]) == ("ben", True)
    assert (await Page(server).ask("POST", "/api/auth/invitation", {"token": former["token"]})).status == 404
    again = Page(server)
    body = {"token": made["token"], "name": "whatever", "password": "another password"}
    assert (await again.enter("/api/auth/join", body)).status == 200
    assert (again.user["name"], again.user["memory_user"]) == ("ben", "ben")
    assert (await ben.ask("GET", "/api/me")).status == 401
    assert (await Page(server).sign_in("ben")).status == 401
    used = await Page(server).enter("/api/auth/recovery", {"name": "ben", "code": ben.recovery_codes[0]})
    assert used.status == 401


async def test_an_admin_decides_within_the_tenant_and_up_to_the_own_rights(house):
    server, anna, _ = house
    dora = await joined(server, "dora", "admin", tenant="acme")
    assert told(await dora.ask("GET", "/api/users"))["results"][0]["name"] == "dora"
    assert len(told(await dora.ask("GET", "/api/users"))["results"]) == 1
    assert len(told(await anna.ask("GET", "/api/users"))["results"]) == 3
    operator = server.parts.access.users.user_by_name("anna")
    assert error_of(await dora.ask("DELETE", f"/api/users/{operator.id}")) == (404, "user_not_found")
    for body in ({"role": "operator"}, {"role": "read", "operator": True}, {"role": "read", "tenant": "default"}):
        assert error_of(await dora.ask("POST", "/api/invitations", body)) == (403, "forbidden")
    eve = await joined(server, "eve", "admin")
    assert error_of(await eve.ask("POST", f"/api/users/{operator.id}/reset")) == (403, "forbidden")
    assert (await eve.ask("POST", "/api/invitations", {"role": "admin"})).status == 201


async def test_nobody_takes_their_own_rights(house):
    server, anna, _ = house
    own = server.parts.access.users.user_by_name("anna").id
    for method, body in (("DELETE", None), ("PATCH", {"disabled": True}), ("PATCH", {"role": "read"})):
        assert error_of(await anna.ask(method, f"/api/users/{own}", body)) == (409, "own_user")
    assert (await anna.ask("PATCH", f"/api/users/{own}", {"memory_user": "user"})).status == 200
    assert told(await anna.ask("GET", "/api/me"))["user"] == "user"


async def test_keys_of_a_part_manage_nobody_and_keys_of_all_do(house):
    server, *_ = house
    make = server.parts.access.api_keys.create
    for bound in ({"user": "anna"}, {"projects": ["kitchen"]}, {"configs": ["Ann"]}):
        key = make(role="admin", by="test", **bound)[1]
        for method, path in (("GET", "/api/users"), ("GET", "/api/invitations"), ("POST", "/api/invitations")):
            answer = await server.ask(method, path, {"role": "read"}, x_api_key=key)
            assert error_of(answer) == (403, "forbidden")
    key = make(role="admin", by="test")[1]
    assert (await server.ask("POST", "/api/invitations", {"role": "read"}, x_api_key=key)).status == 201


async def test_who_signed_in_as_admin_makes_keys_for_the_tenant(house):
    server, _, ben = house
    eve = await joined(server, "eve", "admin")
    key = told(await eve.ask("POST", "/api/keys", {"role": "write", "user": "ben", "configs": ["Ann"]}))
    assert (key["user"], key["configs"], key["created_by"]) == ("ben", ["Ann"], acts_of(server, "eve"))
    assert [one["id"] for one in told(await eve.ask("GET", "/api/keys"))["results"]] == [key["id"]]
    assert error_of(await eve.ask("POST", "/api/keys", {"role": "operator"})) == (403, "forbidden")
    assert (await ben.ask("GET", "/api/keys")).status == 403


async def test_an_admin_who_signed_in_sees_their_own_memories_alone(house):
    _, anna, ben = house
    said = {"messages": [{"role": "user", "content": "Rows on the lake"}], "infer": False}
    await ben.ask("POST", "/api/memories", said)
    assert told(await anna.ask("GET", "/api/memories?user_id=ben"))["results"] == []
    assert told(await anna.ask("GET", "/api/projects"))["results"] == []
    assert told(await anna.ask("GET", "/api/users/memory"))["results"] == ["ben"]


async def test_the_first_admin_comes_by_a_code_in_the_terminal(open_server, capfd):
    server = await open_server()
    assert error_of(await server.ask("POST", "/api/invitations", {"role": "admin"})) == (403, "first_user_on_machine")
    page = Page(server)
    assert told(await page.ask("POST", "/api/auth/first-code"))["printed"] is True
    code = code_in(capfd.readouterr().err)
    what_for = told(await page.ask("POST", "/api/auth/invitation", {"token": code}))
    assert (what_for["role"], what_for["operator"], what_for["by"]) == ("admin", True, "terminal")
    answer = await page.enter("/api/auth/join", {"token": code, "name": "anna", "password": PASSWORD})
    assert (answer.status, page.user["operator"]) == (200, True)
    refused = await page.ask("POST", "/api/auth/first-code")
    assert (error_of(refused), b"ask an admin" in refused.body) == ((409, "has_users"), True)
    server.parts.access.api_keys.switch(on=False)
    refused = await page.ask("POST", "/api/auth/first-code")
    assert (error_of(refused), b"mnemoir keys enable" in refused.body) == ((409, "has_users"), True)
    assert code not in "".join(capfd.readouterr())


async def test_a_code_of_the_terminal_ends_after_five_wrong_ones_and_with_the_next(
    open_server, capfd: pytest.CaptureFixture[str]
):
    server = await open_server()

    async def new_code() -> str:
        await Page(server).ask("POST", "/api/auth/first-code")
        return code_in(capfd.readouterr().err)

    async def is_open(code: str) -> bool:
        return (await Page(server).ask("POST", "/api/auth/invitation", {"token": code})).status == 200

    first, second = await new_code(), await new_code()
    assert (await is_open(first), await is_open(second)) == (False, True)
    for _ in range(3):
        assert not await is_open("wrong")
    assert await is_open(second)
    assert not await is_open("wrong")
    assert not await is_open(second)
    third = await new_code()
    assert [one.created_by for one in server.parts.access.users.invitations(None)] == ["terminal"]
    await joined(server, "ben", "admin")
    assert not await is_open(third)
    assert server.parts.access.users.invitations(None) == []


async def test_a_code_of_the_terminal_ends_with_the_server_that_printed_it(open_server, capfd):
    server = await open_server()
    await Page(server).ask("POST", "/api/auth/first-code")
    code = code_in(capfd.readouterr().err)
    await server.parts.aclose()
    again = Page(await open_server())
    assert (await again.ask("POST", "/api/auth/invitation", {"token": code})).status == 404


async def test_changes_of_users_are_written_down(house):
    server, anna, _ = house
    made = told(await anna.ask("POST", "/api/invitations", {"role": "read"}))
    await anna.ask("DELETE", f"/api/invitations/{made['id']}")
    user = server.parts.access.users.user_by_name("ben")
    await anna.ask("POST", f"/api/users/{user.id}/reset")
    await anna.ask("PATCH", f"/api/users/{user.id}", {"disabled": True})
    await anna.ask("DELETE", f"/api/users/{user.id}")
    page = told(await anna.ask("GET", "/api/audit"))
    entries, by = page["results"], acts_of(server, "anna")
    assert [(one["actor"], one["action"], one["target"]) for one in reversed(entries)][-5:] == [
        (by, "invitations.create", made["id"]),
        (by, "invitations.withdraw", made["id"]),
        (by, "users.reset", user.id),
        (by, "users.disable", user.id),
        (by, "users.remove", user.id),
    ]
    assert page["people"] == {by.removeprefix("user:"): "anna"}  # ben is gone
    assert told(await anna.ask("GET", "/api/audit?actor=user:anna"))["results"][0]["actor"] == by
    assert {"users.create", "sign_in.invitation"} <= {one["action"] for one in entries}
    assert server.parts.access.audit.problems() == []


async def test_an_operator_invites_people_to_new_memory_users_alone(house):
    server, anna, _ = house
    operator = await joined(server, "olga", "write", is_operator=True)
    said = {"messages": [{"role": "user", "content": "Rows on the lake"}], "infer": False, "user_id": "dora"}
    server.parts.access.api_keys.create(role="write", user="phone", by="test")
    key = server.parts.access.api_keys.create(role="admin", by="test")[1]
    await server.post("/api/memories", said, x_api_key=key)
    chat = {"messages": [{"role": "user", "content": "Hello"}], "user": "chatter", "conversation_id": "talk"}
    await server.post("/v1/chat/completions", chat, x_api_key=key)
    invite = {"role": "write", "memory_user": "new"}
    for taken in ("dora", " dora ", "chatter", "ben", "phone"):
        answer = await operator.ask("POST", "/api/invitations", invite | {"memory_user": taken})
        assert (taken, error_of(answer)) == (taken, (403, "forbidden"))
    assert (await operator.ask("POST", "/api/invitations", invite)).status == 201
    assert error_of(await operator.ask("POST", "/api/invitations", invite)) == (403, "forbidden")  # it is invited
    for body in ({"role": "read"}, {"role": "write", "operator": True}, {"role": "operator"}):
        assert (await operator.ask("POST", "/api/invitations", body)).status == 201
    assert (await anna.ask("POST", "/api/invitations", {"role": "read", "memory_user": "dora"})).status == 201


async def test_an_operator_invites_the_first_admin_of_a_tenant_and_no_other_one(house):
    server, *_ = house
    operator = {"x_api_key": server.parts.access.api_keys.create(role="operator", by="test")[1]}
    invite = {"role": "admin", "tenant": "acme"}
    assert (await server.ask("POST", "/api/invitations", invite, **operator)).status == 201
    assert error_of(await server.ask("POST", "/api/invitations", invite, **operator)) == (403, "forbidden")
    server.parts.access.api_keys.create(role="read", tenant="other", by="test")
    for taken in ("default", "other"):
        answer = await server.ask("POST", "/api/invitations", invite | {"tenant": taken}, **operator)
        assert (taken, error_of(answer)) == (taken, (403, "forbidden"))


async def test_an_operator_changes_no_person_and_becomes_none(house):
    server, anna, ben = house
    operator = {"x_api_key": server.parts.access.api_keys.create(role="operator", by="test")[1]}
    id = server.parts.access.users.user_by_name("ben").id
    for method, path, body in (
        ("PATCH", "", {"role": "admin"}),
        ("PATCH", "", {"memory_user": "anna"}),
        ("PATCH", "", {"disabled": True}),
        ("DELETE", "", None),
        ("POST", "/reset", None),
        ("POST", "/adopt", {"from_user": "user"}),
    ):
        answer = await server.ask(method, f"/api/users/{id}{path}", body, **operator)
        assert (path, body, error_of(answer)) == (path, body, (403, "forbidden"))
    assert told(await ben.ask("GET", "/api/me"))["name"] == "ben"
    entries = told(await anna.ask("GET", "/api/audit?limit=100"))["results"]
    refused = [one["action"] for one in entries if one["result"] == "403" and one["target"] == id]
    assert sorted(refused) == ["users.adopt", *["users.change"] * 3, "users.remove", "users.reset"]


async def has_only_a_run(server, user, admin):
    chat = {"messages": [{"role": "user", "content": "Hello"}], "user": user, "store": False}
    await server.post("/v1/chat/completions", chat, **admin)
    await server.get("/api/runs", **admin)  # once it is written


async def has_only_proposals(server, user, admin):
    scope = Scope(project="default", user=user)
    memory = Memory(id=MemoryId("m1"), text="Rides", user=user, created_at="2026-01-01")
    at = to_text(utc_now())
    waits = Proposal(id=new_proposal_id(), event="ADD", memory=memory, reason="extracted", proposed_at=at)
    await server.parts.memory.proposals.add(scope, [waits])


async def has_only_deleted_memories(server, user, admin):
    said = {"messages": [{"role": "user", "content": "Rows on the lake"}], "infer": False, "user_id": user}
    added = await server.post("/api/memories", said, **admin)
    succeeded(await server.ask("DELETE", f"/api/memories/{added['results'][0]['id']}", **admin))


async def has_only_a_hold(server, user, admin):
    succeeded(await server.ask("PUT", f"/api/holds/{user}", {"reason": "a claim"}, **admin))


SOMETHING = (has_only_a_run, has_only_proposals, has_only_deleted_memories, has_only_a_hold)


@pytest.mark.parametrize("there", SOMETHING)
async def test_an_operator_invites_to_nobody_of_whom_something_is_there(house, there):
    server, *_ = house
    operator = {"x_api_key": server.parts.access.api_keys.create(role="operator", by="test")[1]}
    await there(server, "dora", {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]})
    refused = await server.ask("POST", "/api/invitations", {"role": "write", "memory_user": "dora"}, **operator)
    assert error_of(refused) == (403, "forbidden")


@pytest.mark.parametrize("there", SOMETHING)
@pytest.mark.parametrize("named", [True, False])
async def test_nobody_joins_by_an_operator_what_got_something_since(house, there, named):
    server, *_ = house
    operator = {"x_api_key": server.parts.access.api_keys.create(role="operator", by="test")[1]}
    invite = {"role": "write"} | ({"memory_user": "dora"} if named else {})
    token = told(await server.ask("POST", "/api/invitations", invite, **operator))["token"]
    await there(server, "dora", {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]})
    join = {"token": token, "name": "Dora", "password": PASSWORD}
    refused = await Page(server).ask("POST", "/api/auth/join", join)
    assert error_of(refused) == (409, "memory_user_taken" if named else "name_taken")
    body = {"token": token, "name": "Emma", "password": PASSWORD}
    assert (await Page(server).ask("POST", "/api/auth/join", body)).status == (409 if named else 200)


async def test_nobody_joins_by_an_operator_the_memory_user_of_a_key_that_was_made_since(house):
    server, *_ = house
    operator = {"x_api_key": server.parts.access.api_keys.create(role="operator", by="test")[1]}
    invite = {"role": "write", "memory_user": "dora"}
    token = told(await server.ask("POST", "/api/invitations", invite, **operator))["token"]
    server.parts.access.api_keys.create(role="write", user="dora", by="test")
    join = {"token": token, "name": "Dora", "password": PASSWORD}
    assert error_of(await Page(server).ask("POST", "/api/auth/join", join)) == (409, "name_taken")


async def test_nobody_becomes_admin_by_an_operator_of_a_tenant_in_which_something_is_since(house):
    server, *_ = house
    operator = {"x_api_key": server.parts.access.api_keys.create(role="operator", by="test")[1]}
    tokens = [
        told(await server.ask("POST", "/api/invitations", {"role": "admin", "tenant": tenant}, **operator))["token"]
        for tenant in ("acme", "other")
    ]
    theirs = {"x_api_key": server.parts.access.api_keys.create(role="admin", tenant="acme", by="test")[1]}
    await has_only_a_run(server, "gustav", theirs)
    joins = [{"token": token, "name": name, "password": PASSWORD} for token, name in zip(tokens, "AB", strict=True)]
    assert error_of(await Page(server).ask("POST", "/api/auth/join", joins[0])) == (409, "tenant_taken")
    assert (await Page(server).ask("POST", "/api/auth/join", joins[1])).status == 200


async def test_an_admin_invites_to_memories_that_are_there(house):
    server, anna, _ = house
    token = told(await anna.ask("POST", "/api/invitations", {"role": "read", "memory_user": "dora"}))["token"]
    await has_only_deleted_memories(
        server, "dora", {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]}
    )
    join = {"token": token, "name": "Dora", "password": PASSWORD}
    assert (await Page(server).ask("POST", "/api/auth/join", join)).status == 200
