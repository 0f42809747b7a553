"""Signing in by invitation, password and recovery code; what is wrong is refused alike."""

import asyncio
from datetime import timedelta

import pytest
from argon2 import PasswordHasher

from mnemoir.core.clock import utc_now
from mnemoir.core.users import Grant
from tests.server.server_kit import error_of, succeeded
from tests.server.sign_in.page import PASSWORD, Page, invited, joined, told
from tests.server.storages import database_settings  # noqa: F401  # the fixture


async def test_a_server_asks_nobody_until_somebody_joins(open_server):
    server = await open_server()
    before = await server.get("/api/auth")
    assert (before["required"], before["has_users"], before["user"], before["csrf"]) == (False, False, None, None)
    token = invited(server, "admin", is_operator=True)
    assert (await server.ask("GET", "/api/projects")).status == 200
    anna = Page(server)
    what_for = told(await anna.ask("POST", "/api/auth/invitation", {"token": token}))
    assert (what_for["role"], what_for["operator"], what_for["resets"], what_for["by"]) == (
        "admin",
        True,
        False,
        "test",
    )
    answer = await anna.enter("/api/auth/join", {"token": token, "name": "Anna", "password": PASSWORD})
    assert (anna.user["name"], anna.user["memory_user"], len(set(anna.recovery_codes))) == ("Anna", "anna", 10)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"mnemoir_{server.parts.access.sessions.installation}=")
    assert "; Path=/; " in cookie
    assert "; HttpOnly; SameSite=Strict" in cookie
    assert "Secure" not in cookie
    assert answer.headers["cache-control"] == "no-store"
    assert (await server.ask("GET", "/api/projects")).status == 401
    assert (await anna.ask("GET", "/api/projects")).status == 200
    auth = told(await anna.ask("GET", "/api/auth"))
    assert (auth["required"], auth["has_users"], auth["user"], auth["csrf"]) == (True, True, anna.user, anna.csrf)
    me = told(await anna.ask("GET", "/api/me"))
    assert (me["name"], me["signed_in"], me["user"], me["roles"]) == ("Anna", True, "anna", ["admin", "operator"])


async def test_a_user_signs_in_again_by_password_in_any_case_of_the_name(open_server):
    server = await open_server()
    await joined(server, "Zoë")
    again = Page(server)
    assert (await again.sign_in("ZOË")).status == 200
    assert (await again.ask("GET", "/api/conversations")).status == 200
    assert (await again.ask("POST", "/api/auth/sign-out")).status == 204
    assert (await again.ask("GET", "/api/conversations")).status == 401


async def test_a_recovery_code_signs_in_once(open_server):
    server = await open_server()
    anna = await joined(server, "anna")
    code = anna.recovery_codes[3].upper().replace("-", " ")
    other = Page(server)
    assert (await other.enter("/api/auth/recovery", {"name": "Anna", "code": code})).status == 200
    again = await Page(server).enter("/api/auth/recovery", {"name": "Anna", "code": code})
    assert error_of(again) == (401, "wrong_sign_in")
    new = told(await anna.ask("POST", "/api/me/recovery-codes"))["recovery_codes"]
    former = await Page(server).enter("/api/auth/recovery", {"name": "anna", "code": anna.recovery_codes[0]})
    assert former.status == 401
    assert (await Page(server).enter("/api/auth/recovery", {"name": "anna", "code": new[0]})).status == 200


async def test_what_is_wrong_is_refused_alike(open_server):
    server = await open_server()
    await joined(server, "anna")
    asked = [
        ("password", {"name": "anna", "password": "wrong password"}),
        ("password", {"name": "nobody", "password": PASSWORD}),
        ("password", {"name": "anna", "password": "x" * 1000}),
        ("recovery", {"name": "anna", "code": "abcde-fghij"}),
        ("recovery", {"name": "nobody", "code": "nonsense"}),
    ]
    bodies = set()
    for way, body in asked:
        answer = await Page(server).ask("POST", f"/api/auth/{way}", body)
        assert error_of(answer) == (401, "wrong_sign_in")
        bodies.add(answer.body.partition(b'"request_id"')[0])
    assert len(bodies) == 1


async def test_an_invitation_counts_once_also_for_two_at_the_same_time(open_server):
    server = await open_server()
    token = invited(server)
    bodies = [{"token": token, "name": name, "password": PASSWORD} for name in ("ada", "bob")]
    answers = await asyncio.gather(*(Page(server).ask("POST", "/api/auth/join", body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [200, 404]
    late = await Page(server).ask("POST", "/api/auth/join", {"token": token, "name": "cy", "password": PASSWORD})
    assert error_of(late) == (404, "invitation_not_found")
    assert len(server.parts.access.users.users_page(None, limit=10)) == 1


async def test_an_invitation_into_a_tenant_counts_while_that_is_not_suspended(open_server):
    server = await open_server()
    body = {"token": invited(server, tenant="acme"), "name": "anna", "password": PASSWORD}
    server.parts.access.tenants.put("acme", suspended=True)
    assert error_of(await Page(server).enter("/api/auth/join", body)) == (403, "tenant_suspended")
    assert not server.parts.access.users.are_there
    server.parts.access.tenants.put("acme", suspended=False)
    assert (await Page(server).enter("/api/auth/join", body)).status == 200


async def test_an_invitation_that_expired_or_was_taken_back_is_like_one_that_never_was(open_server, monkeypatch):
    server = await open_server()
    users = server.parts.access.users
    withdrawn, token = users.invite(Grant(role="read"), by="test")
    users.withdraw(withdrawn)
    old = invited(server)
    monkeypatch.setattr(users, "_clock", lambda: utc_now() + timedelta(days=8))
    for sent in (token, old, "never"):
        answer = await Page(server).ask("POST", "/api/auth/invitation", {"token": sent})
        assert error_of(answer) == (404, "invitation_not_found")


@pytest.mark.parametrize(
    ("name", "password", "code"),
    [
        ("anna", "ninechars", "validation_error"),
        ("anna", "ü" * 257, "validation_error"),
        ("", PASSWORD, "validation_error"),
        ("a\nb", PASSWORD, "validation_error"),
        ("x" * 65, PASSWORD, "validation_error"),
        ("\u3164", PASSWORD, "validation_error"),
        ("BEN", PASSWORD, "name_taken"),
        ("be\u034fn\ufe0f", PASSWORD, "name_taken"),
        ("mira", PASSWORD, "name_taken"),
        ("Phone", PASSWORD, "name_taken"),
        ("guest", PASSWORD, "name_taken"),
    ],
    ids=[
        *("short password", "long password", "no name", "two lines", "long name", "invisible"),
        *("another's", "another's but for what is not seen", "has memories", "of a key", "of an invitation"),
    ],
)
async def test_a_name_or_password_that_cannot_be_leaves_the_invitation_open(open_server, name, password, code):
    server = await open_server()
    said = {"messages": [{"role": "user", "content": "Rows"}], "user_id": "mira", "infer": False}
    await server.post("/api/memories", said)
    await joined(server, "ben")
    server.parts.access.api_keys.create(role="write", user="phone", by="test")
    invited(server, memory_user="guest")
    token = invited(server)
    answer = await Page(server).ask("POST", "/api/auth/join", {"token": token, "name": name, "password": password})
    assert error_of(answer) == ({"name_taken": 409}.get(code, 422), code)
    assert password.encode() not in answer.body
    fine = await Page(server).ask("POST", "/api/auth/join", {"token": token, "name": "cleo", "password": PASSWORD})
    assert fine.status == 200


async def test_too_many_tries_are_refused_by_name_and_a_right_one_is_not_counted(open_server, clock):
    server = await open_server()
    await joined(server, "anna")
    await joined(server, "ben")
    for _ in range(12):
        assert (await Page(server).sign_in("anna")).status == 200
    wrong = [(await Page(server).sign_in("anna", "wrong password")).status for _ in range(11)]
    assert wrong == [401] * 10 + [429]
    answer = await Page(server).sign_in("Anna")
    assert (error_of(answer), int(answer.headers["retry-after"]) > 0) == ((429, "rate_limited"), True)
    assert (await Page(server).sign_in("ben")).status == 200


@pytest.mark.slow
async def test_a_password_is_hashed_by_argon2_and_anew_where_that_is_done_in_another_way(open_server, real_hashes):
    server = await open_server()
    users, passwords = server.parts.access.users, server.parts.access.passwords
    await joined(server, "anna")
    user, real = users.with_hash("anna")
    assert real.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    former = PasswordHasher(time_cost=1, memory_cost=16, parallelism=1).hash(PASSWORD)
    users.rehash(user, real, former)
    assert passwords.is_outdated(former)
    assert (await Page(server).sign_in("anna")).status == 200
    renewed = users.with_hash("anna")[1]
    assert (renewed.startswith("$argon2id$v=19$m=65536,t=3,p=4$"), renewed != real) == (True, True)


async def test_a_changed_password_ends_other_sessions(open_server):
    server = await open_server()
    here = await joined(server, "anna")
    there = Page(server)
    await there.sign_in("anna")
    assert len(told(await here.ask("GET", "/api/me/sessions"))["results"]) == 2
    wrong = await here.ask("PUT", "/api/me/password", {"old": "wrong password", "new": "another password"})
    assert error_of(wrong) == (401, "wrong_sign_in")
    done = await here.ask("PUT", "/api/me/password", {"old": PASSWORD, "new": "another password"})
    assert (done.status, done.body) == (204, b"")
    assert (await there.ask("GET", "/api/me")).status == 401
    assert (await here.ask("GET", "/api/me")).status == 200
    assert (await Page(server).sign_in("anna")).status == 401
    assert (await Page(server).sign_in("anna", "another password")).status == 200


async def test_people_say_where_they_live_and_their_days_are_read_there(open_server):
    server = await open_server({"memory.time_zone": "Europe/Vienna"})
    anna = await joined(server, "anna")
    fly = {"role": "user", "content": "I'm flying to Rome tomorrow"}
    sent = {"messages": [fly], "user_id": "anna", "timestamp": "2024-02-28T16:30:00Z", "dry_run": True}

    async def planned():
        return [one["memory"] for one in succeeded(await anna.ask("POST", "/api/memories", sent))["results"]]

    assert await planned() == ["Flying to Rome on 2024-02-29"]
    me = succeeded(await anna.ask("PATCH", "/api/me", {"time_zone": "Asia/Tokyo"}))
    assert (me["name"], me["time_zone"]) == ("anna", "Asia/Tokyo")
    assert await planned() == ["Flying to Rome on 2024-03-01"]
    assert error_of(await anna.ask("PATCH", "/api/me", {"time_zone": "Mars/Olympus"})) == (422, "validation_error")
    assert succeeded(await anna.ask("PATCH", "/api/me", {"time_zone": None}))["time_zone"] is None
    assert await planned() == ["Flying to Rome on 2024-02-29"]


@pytest.fixture
def later(monkeypatch):
    """The sessions of a server as they are after some minutes."""

    def move(server, minutes: int) -> None:
        start = utc_now()
        monkeypatch.setattr(server.parts.access.sessions, "_clock", lambda: start + timedelta(minutes=minutes))

    return move


NEWS = [
    ("PUT", "/api/me/password", {"new": "another password"}, 204),
    ("POST", "/api/me/recovery-codes", {}, 200),
    ("POST", "/api/me/passkeys/options", {}, 200),
    ("POST", "/api/me/passkeys", {"id": "none", "credential": {}}, 400),  # goes on, to a credential that is none
]


@pytest.mark.parametrize(("method", "path", "body", "status"), NEWS, ids=[path for _, path, _, _ in NEWS])
async def test_what_signs_in_is_changed_within_ten_minutes_of_showing_who_one_is(
    open_server, later, method, path, body, status
):
    server = await open_server()
    anna = await joined(server, "anna")
    later(server, 9)
    assert (await anna.ask(method, path, body)).status == status
    later(server, 11)
    assert error_of(await anna.ask(method, path, body)) == (403, "confirmation_needed")
    said = "another password" if path.endswith("password") else PASSWORD
    assert error_of(await anna.ask("POST", "/api/me/confirm", {"password": "wrong one"})) == (401, "wrong_sign_in")
    assert error_of(await anna.ask(method, path, body)) == (403, "confirmation_needed")
    assert (await anna.ask("POST", "/api/me/confirm", {"password": said})).status == 204
    assert (await anna.ask(method, path, body)).status == status
    later(server, 22)
    assert error_of(await anna.ask(method, path, body)) == (403, "confirmation_needed")


async def test_who_is_confirmed_in_one_browser_is_not_in_another(open_server, later):
    server = await open_server()
    here, there = await joined(server, "anna"), Page(server)
    await there.sign_in("anna")
    later(server, 11)
    assert (await here.ask("POST", "/api/me/confirm", {"password": PASSWORD})).status == 204
    assert error_of(await there.ask("POST", "/api/me/recovery-codes")) == (403, "confirmation_needed")


async def test_a_session_is_ended_from_another_one(open_server):
    server = await open_server()
    here, there = await joined(server, "anna"), Page(server)
    await there.sign_in("anna")
    sessions = told(await here.ask("GET", "/api/me/sessions"))["results"]
    other = next(one for one in sessions if not one["is_current"])
    assert (await here.ask("DELETE", f"/api/me/sessions/{other['id']}")).status == 204
    assert (await there.ask("GET", "/api/me")).status == 401
    ben = await joined(server, "ben")
    own = next(one for one in sessions if one["is_current"])
    assert error_of(await ben.ask("DELETE", f"/api/me/sessions/{own['id']}")) == (404, "session_not_found")


async def test_a_session_ends_when_it_is_not_used_and_after_its_longest_time(open_server, monkeypatch):
    server = await open_server()
    anna, sessions, start = await joined(server, "anna"), server.parts.access.sessions, utc_now()
    for hours in range(11, 30 * 24, 11):
        monkeypatch.setattr(sessions, "_clock", lambda hours=hours: start + timedelta(hours=hours))
        assert (await anna.ask("GET", "/api/me")).status == 200
        server.parts.access.file._notes.submit(lambda: None).result()
    monkeypatch.setattr(sessions, "_clock", lambda: start + timedelta(days=30, seconds=1))
    assert (await anna.ask("GET", "/api/me")).status == 401
    monkeypatch.setattr(sessions, "_clock", utc_now)
    later = Page(server)
    await later.sign_in("anna")
    monkeypatch.setattr(sessions, "_clock", lambda: utc_now() + timedelta(hours=12, seconds=1))
    assert (await later.ask("GET", "/api/me")).status == 401


async def test_nothing_secret_is_stored_or_logged(open_server, tmp_path, capfd):
    server = await open_server()
    anna = await joined(server, "anna")
    reset = server.parts.access.users.reset(server.parts.access.users.user_by_name("anna"), by="test")[1]
    await Page(server).sign_in("anna", "a wrong secret")
    secrets = [PASSWORD, anna.cookie.partition("=")[2], anna.csrf, reset, "a wrong secret", *anna.recovery_codes]
    stored = b"".join(file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file())
    logged = "".join(capfd.readouterr())
    for secret in secrets:
        assert secret.encode() not in stored
        assert secret not in logged


async def test_the_pages_chat_and_models_are_behind_the_sign_in(open_server):
    server = await open_server()
    anna = await joined(server, "anna")
    chat = {"model": "mnemoir", "messages": [{"role": "user", "content": "Hello"}], "conversation_id": "talk"}
    assert succeeded(await anna.ask("POST", "/api/page/chat/completions", chat))["object"] == "chat.completion"
    assert told(await anna.ask("GET", "/api/page/models"))["data"]
    assert [one["id"] for one in told(await anna.ask("GET", "/api/conversations"))["results"]] == ["talk"]
    ben = await joined(server, "ben")
    assert told(await ben.ask("GET", "/api/conversations"))["results"] == []
