"""Secrets that end: what is the same of keys, sessions, invitations, sign-ins, challenges and recovery codes."""

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.sign_in.users import Users
from mnemoir.access.tenants import Tenants
from mnemoir.core.api_keys import ApiKey
from mnemoir.core.clock import to_text
from mnemoir.core.errors import StorageDamaged
from mnemoir.core.users import Grant, Invitation, Session, User
from mnemoir.settings import load_settings
from mnemoir.storage.named_queries import made_query
from mnemoir.storage.sql.access.api_keys import API_KEYS
from mnemoir.storage.sql.access.passkeys import CHALLENGES, Challenge
from mnemoir.storage.sql.access.sessions import SESSIONS
from mnemoir.storage.sql.access.sign_ins import SIGN_INS, SignIn
from mnemoir.storage.sql.access.tokens import Tokens
from mnemoir.storage.sql.access.users import INVITATIONS, RECOVERY_CODES, RecoveryCode
from mnemoir.storage.sql.engine import FileEngine, Value
from tests.server.storages import FILES, postgres, settings_of

NOW = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
LATER = NOW + timedelta(minutes=10)
HASH = bytes(range(32))


@pytest.fixture(params=[FILES, postgres(18)])
def access(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AccessFile]:
    with settings_of(request.param, tmp_path) as storage:
        settings = load_settings(None, {"storage.data_dir": str(tmp_path / "data"), **storage}, environ={})
        opened = AccessFile(settings)
        yield opened
        opened.close()


@pytest.fixture
def user(access: AccessFile) -> User:
    users = Users(access, lambda: NOW)
    return users.join(users.invite(Grant(role="read"), by="test")[1], "Mira", password_hash="made up")[0]


@pytest.fixture
def file(access: AccessFile, user: User) -> FileEngine:
    """The database, with one user in it."""
    return access.open_or_create()


def put(file: FileEngine, kind: Tokens[Any], token: object, hash: bytes = HASH) -> None:
    file.write(lambda sql: kind.put(sql, token, hash))


def found(file: FileEngine, kind: Tokens[Any], hash: bytes = HASH, **values: str) -> Any:
    bound: dict[str, Value] = {"hash": hash, "now": to_text(NOW), **values}
    return file.read(lambda sql: kind.open(sql, **bound))


def taken(file: FileEngine, kind: Tokens[Any], hash: bytes = HASH, now: datetime = NOW) -> Any:
    return file.write(lambda sql: kind.take(sql, hash=hash, now=to_text(now)))


def noted(file: FileEngine, kind: Tokens[Any], id: str, at: datetime) -> bool:
    return file.write(lambda sql: kind.note_use(sql, id, at))


def key(id: str = "abcdefgh", **said: Any) -> ApiKey:
    return ApiKey(id=id, hash=HASH, tenant="default", role="read", created_at=NOW, **said)


def session(user: User, id: str = "s_one") -> Session:
    times = {"created_at": NOW, "last_seen_at": NOW, "confirmed_at": NOW}
    return Session(id=id, user=user.id, agent="a browser", address="::1", **times)


def challenge(lasting: timedelta = timedelta(minutes=5)) -> Challenge:
    return Challenge(challenge=b"\x00sign\xff", purpose="sign in", expires_at=NOW + lasting)


def invitation(id: str, **said: Any) -> Invitation:
    grant = Grant(tenant="acme", role="admin", is_operator=True, memory_user="mira", projects=["kitchen"], configs=[])
    told = {"id": id, "name": None, "grant": grant, "created_at": NOW, "created_by": "me", "expires_at": LATER}
    return Invitation(**told | said)


def sign_in(user: User) -> SignIn:
    asked = {"state": "a state", "provider": "home", "nonce": "n", "verifier": "v", "redirect_uri": "https://here"}
    return SignIn(**asked, leads_to="/", invitation=HASH, expires_at=LATER)


def full_key(user: User) -> ApiKey:
    return key(
        projects=["kitchen", "ünder"], configs=[], user=user.name, label="ci", expires_at=LATER, revoked_at=LATER
    )


EACH: Mapping[str, tuple[Tokens[Any], Callable[[User], object], Mapping[str, str]]] = {
    "key": (API_KEYS, full_key, {"id": "abcdefgh"}),
    "session": (SESSIONS, session, {}),
    "invitation": (INVITATIONS, lambda user: invitation("i_one", resets=user.id, only_new=True), {}),
    "sign-in": (SIGN_INS, sign_in, {"state": "a state"}),
    "challenge": (CHALLENGES, lambda user: challenge(), {}),
}


@pytest.mark.parametrize("name", EACH)
def test_what_a_token_is_for_is_found_by_its_hash_as_it_was_stored(file, user, name):
    kind, made, values = EACH[name]
    token = made(user)
    put(file, kind, token)
    assert found(file, kind, HASH, **values) == token
    assert found(file, kind, HASH[::-1], **{**values, "id": "hgfedcba"}) is None


def test_of_a_sign_in_and_a_recovery_code_the_hash_alone_finds_nothing(file, user):
    put(file, SIGN_INS, sign_in(user))
    put(file, RECOVERY_CODES, RecoveryCode(user.id))
    assert found(file, SIGN_INS, state="another") is None
    assert found(file, RECOVERY_CODES, user="") is None
    assert found(file, RECOVERY_CODES, user=user.id) == RecoveryCode(user.id)


def test_a_token_is_taken_once_by_those_who_come_at_once(file):
    put(file, CHALLENGES, challenge())
    gained: list[Challenge | None] = []
    threads = [threading.Thread(target=lambda: gained.append(taken(file, CHALLENGES))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(gained, key=str) == [challenge(), None, None, None]
    assert found(file, CHALLENGES) is None


def test_a_token_that_has_expired_is_not_open_and_goes_with_the_next_sweep(file):
    put(file, CHALLENGES, challenge())
    put(file, CHALLENGES, challenge(timedelta(hours=1)), b"lasting")
    end = NOW + timedelta(minutes=5)
    assert found(file, CHALLENGES, now=to_text(end - timedelta(seconds=1))) is not None
    assert found(file, CHALLENGES, now=to_text(end)) is None
    assert taken(file, CHALLENGES, now=end) is None
    file.write(lambda sql: CHALLENGES.drop_ended(sql, end))
    assert found(file, CHALLENGES) is None
    assert found(file, CHALLENGES, b"lasting") is not None


def test_of_too_many_those_that_end_first_go(file):
    for minutes in (3, 1, 2):
        put(file, CHALLENGES, challenge(timedelta(minutes=minutes)), bytes([minutes]))
    file.write(lambda sql: CHALLENGES.drop_ended(sql, NOW, most=2))
    assert [minutes for minutes in (1, 2, 3) if found(file, CHALLENGES, bytes([minutes]))] == [2, 3]


def test_the_last_use_of_a_token_is_never_set_back(file, user):
    put(file, SESSIONS, session(user))
    put(file, API_KEYS, key())
    for kind, id in ((SESSIONS, "s_one"), (API_KEYS, "abcdefgh")):
        times = (NOW + timedelta(minutes=1), LATER, NOW + timedelta(minutes=2))
        assert [noted(file, kind, id, at) for at in times] == [True, True, False]
    assert found(file, SESSIONS).last_seen_at == found(file, API_KEYS, id="abcdefgh").last_used_at == LATER
    assert not noted(file, SESSIONS, "s_two", LATER)


def test_a_revoked_key_stays_and_ends_at_the_earlier_time(file):
    put(file, API_KEYS, key())
    for at in (LATER, NOW, LATER):
        file.write(lambda sql, at=at: API_KEYS.revoke(sql, "abcdefgh", at))
    stored = file.read(lambda sql: API_KEYS.of_id(sql, "abcdefgh"))
    assert stored == key(revoked_at=NOW)
    assert [text for text in API_KEYS.statements if text.startswith("DELETE")] == []


def test_all_tokens_of_a_person_end_but_for_one(file, user):
    for number in range(3):
        put(file, SESSIONS, session(user, f"s_{number}"), bytes([number]))
    put(file, INVITATIONS, invitation("i_one", resets=user.id), b"reset")
    put(file, INVITATIONS, invitation("i_two"), b"of nobody")
    file.write(lambda sql: SESSIONS.end_all(sql, user.id, but="s_1"))
    file.write(lambda sql: INVITATIONS.end_all(sql, user.id))
    assert [number for number in range(3) if found(file, SESSIONS, bytes([number]))] == [1]
    assert [hash for hash in (b"reset", b"of nobody") if found(file, INVITATIONS, hash)] == [b"of nobody"]
    assert [file.write(lambda sql: SESSIONS.end(sql, "s_1")) for _ in range(2)] == [True, False]


def test_a_page_goes_on_behind_the_last_one_and_has_what_is_listed_alone(file, user):
    hidden = {"reset": {"resets": user.id}, "ended": {"expires_at": NOW}}
    for name, said in ({"b": {}, "a": {}, "old": {"created_at": NOW - timedelta(days=1)}} | hidden).items():
        put(file, INVITATIONS, invitation(name, **said), name.encode())

    def page(tenant: str | None, limit: int, after: tuple[str, str] | None = None) -> list[str]:
        with_now = {"now": to_text(NOW)}
        return [one.id for one in file.read(lambda sql: INVITATIONS.page(sql, tenant, limit, after, **with_now))]

    assert page("acme", 2) == ["old", "a"]
    assert page(None, 2, (to_text(NOW), "a")) == ["b"]
    assert page("default", 2) == []


def test_a_token_of_who_may_not_come_in_is_not_open(access, file, user):
    put(file, SESSIONS, session(user))
    put(file, API_KEYS, key())
    Tenants(access).put("default", suspended=True)
    assert (found(file, SESSIONS), found(file, API_KEYS, id="abcdefgh")) == (None, None)
    assert file.read(lambda sql: API_KEYS.of_id(sql, "abcdefgh")) == key()
    Tenants(access).put("default", suspended=False)
    assert found(file, SESSIONS) == session(user)
    assert found(file, API_KEYS, id="abcdefgh") == key()


@pytest.mark.parametrize("cell", ["yesterday", ""])
def test_a_time_that_cannot_be_read_is_damage(file, user, cell):
    put(file, SESSIONS, session(user))
    spoil = made_query("UPDATE user_sessions SET last_seen_at = :cell", {"cell": "text"})
    file.write(lambda sql: sql.run(spoil, cell=cell))
    with pytest.raises(StorageDamaged):
        found(file, SESSIONS)
