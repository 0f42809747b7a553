"""Keys that are made for a data directory: what is stored of them, and when they open something."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.access.tenants import Tenants
from mnemoir.core.data_directory import ACCESS_FILE, PEPPER_FILE
from mnemoir.core.errors import Conflict, InvalidRequest, NotFound, StorageUnavailable
from mnemoir.core.scope import Principal, Role
from mnemoir.settings import load_settings
from mnemoir.storage.sql.access.api_keys import SqlApiKeys
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity
from mnemoir.storage.sqlite.opening import open_access_file

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON
        self.ticks = 0.0  # seconds that only grow

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_file(tmp_path, clock):
    """Opens the access file of one data directory, as several processes do; all are closed at the end."""
    opened = []

    def start(**more) -> AccessFile:
        given = {"storage.data_dir": str(tmp_path / "data")} | more
        opened.append(AccessFile(load_settings(None, given, environ={}), clock, lambda: clock.ticks))
        return opened[-1]

    yield start
    for file in opened:
        file.close()


@pytest.fixture
def open_keys(open_file, clock):
    """Opens the keys in it."""

    def start(**more) -> ApiKeys:
        return ApiKeys(open_file(**more), clock)

    return start


def test_without_a_key_nothing_is_made_and_none_is_needed(open_keys, tmp_path):
    keys = open_keys()
    assert (keys.are_required(is_local=True), keys.principal("mn_live_abcdefgh_" + "x" * 43)) == (False, None)
    assert not (tmp_path / "data").exists()


READ: tuple[Role, ...] = ("read",)


def test_a_key_is_known_by_what_it_is_bound_to(open_keys):
    keys = open_keys()
    _, text = keys.create(
        role="read", tenant="acme", projects=["kitchen", "garden", "kitchen"], user=" mira ", by="test"
    )
    assert keys.principal(text) == Principal(
        tenant="acme", key=text.split("_")[2], roles=READ, projects=("garden", "kitchen"), user="mira"
    )


def test_no_secret_is_in_any_file_and_all_files_are_the_owners_alone(open_file, tmp_path):
    file = open_file()
    keys = ApiKeys(file)
    texts = [keys.create(role="write", by="test")[1] for _ in range(3)]
    for text in texts:
        assert keys.principal(text)
    file.close()
    made = [tmp_path / "data", *(tmp_path / "data").rglob("*")]
    assert not [path for path in made if path.stat().st_mode & 0o077]
    stored = b"".join(path.read_bytes() for path in made if path.is_file())
    assert not [text for text in texts if text[-43:].encode() in stored]


def test_another_process_makes_keys_that_count_at_once_and_ends_them_within_a_second(open_keys, clock):
    server, command = open_keys(), open_keys()
    made, text = command.create(role="read", by="test")
    assert (server.are_required(is_local=True), server.principal(text) is not None) == (True, True)
    command.revoke(made.id)
    clock.ticks += 1
    assert server.principal(text) is None
    _, more = command.create(role="read", by="test")
    assert server.principal(more)
    assert server.are_required(is_local=True)  # a revoked key opens nothing, and nothing is open for that


def test_keys_are_switched_off_for_this_machine_alone_and_on_again(open_keys):
    keys = open_keys()
    keys.create(role="admin", by="test")
    keys.switch(on=False)
    assert [keys.are_required(is_local=local) for local in (True, False)] == [False, True]
    keys.switch(on=True)
    assert keys.are_required(is_local=True)


def test_a_rotated_key_goes_on_until_its_overlap_ends(open_keys, clock):
    keys = open_keys()
    old, former = keys.create(role="write", user="mira", label="phone", by="test")
    new, text = keys.rotate(old.id, overlap=timedelta(hours=2), by="test")
    assert (new.role, new.user, new.label, keys.get(old.id).replaced_by) == ("write", "mira", "phone", new.id)
    assert keys.principal(former)
    assert keys.principal(text)
    clock.now += timedelta(hours=2)
    assert (keys.principal(former), keys.principal(text) is not None) == (None, True)
    keys.revoke(new.id)
    with pytest.raises(InvalidRequest, match="has ended"):
        keys.rotate(new.id, overlap=timedelta(0), by="test")


def test_a_key_has_one_successor_which_the_next_rotation_names(open_keys):
    keys = open_keys()
    old, _ = keys.create(role="write", by="test")
    new, _ = keys.rotate(old.id, overlap=timedelta(hours=2), by="test")
    for _ in range(2):
        with pytest.raises(Conflict, match=f"was replaced by key {new.id}") as refused:
            keys.rotate(old.id, overlap=timedelta(0), by="test")
        assert refused.value.code == "already_rotated"
    assert keys.get(old.id).revoked_at > keys.get(new.id).created_at
    assert keys.rotate(new.id, overlap=timedelta(0), by="test")[0].id != new.id


def test_an_expired_key_opens_nothing(open_keys, clock):
    keys = open_keys()
    _, text = keys.create(role="read", expires_at=NOON + timedelta(days=1), by="test")
    clock.now += timedelta(days=1)
    assert keys.principal(text) is None


def test_the_keys_of_a_suspended_tenant_open_nothing_until_it_goes_on(open_file):
    file = open_file()
    keys, tenants = ApiKeys(file), Tenants(file)
    _, text = keys.create(role="admin", tenant="acme", by="test")
    tenants.put("acme", suspended=True)
    assert keys.principal(text) is None
    tenants.put("acme", suspended=False)
    assert keys.principal(text)


def test_a_key_of_a_suspended_tenant_can_be_revoked(open_file):
    file = open_file()
    keys, tenants = ApiKeys(file), Tenants(file)
    made, text = keys.create(role="admin", tenant="acme", by="test")
    tenants.put("acme", suspended=True)
    keys.revoke(made.id)
    tenants.put("acme", suspended=False)
    assert keys.principal(text) is None


def test_a_file_of_keys_that_is_gone_lets_nobody_in_and_no_new_one_is_made(open_keys, tmp_path, clock):
    keys = open_keys()
    _, text = keys.create(role="admin", by="test")
    assert keys.principal(text)
    for file in (tmp_path / "data").glob(f"{ACCESS_FILE}*"):
        file.unlink()
    clock.ticks += 1
    for asks in (lambda: keys.are_required(is_local=True), lambda: keys.principal(text)):
        with pytest.raises(StorageUnavailable, match="is missing"):
            asks()
    assert not (tmp_path / "data" / ACCESS_FILE).exists()


@pytest.mark.parametrize(("times", "noted"), [((0, 30, 59), 0), ((0, 30, 59, 61), 61)])
def test_when_a_key_was_used_is_noted_at_most_once_a_minute(open_file, open_keys, clock, times, noted):
    file = open_file()
    keys = ApiKeys(file, clock)
    made, text = keys.create(role="read", by="test")
    for seconds in times:
        clock.now = NOON + timedelta(seconds=seconds)
        keys.principal(text)
    file.close()
    assert open_keys().get(made.id).last_used_at == NOON + timedelta(seconds=noted)


def test_a_lost_pepper_lets_nobody_in_and_makes_no_new_one(open_keys, tmp_path):
    _, text = open_keys().create(role="admin", by="test")
    (tmp_path / "data" / PEPPER_FILE).unlink()
    keys = open_keys()
    with pytest.raises(StorageUnavailable, match="Put it back"):
        keys.principal(text)
    with pytest.raises(StorageUnavailable, match="Put it back"):
        keys.create(role="read", by="test")


def test_an_empty_pepper_is_told_as_a_lost_one(open_keys, tmp_path):
    _, text = open_keys().create(role="admin", by="test")
    (tmp_path / "data" / PEPPER_FILE).write_bytes(b"")
    with pytest.raises(StorageUnavailable, match="is empty"):
        open_keys().principal(text)


def test_a_pepper_of_the_settings_needs_no_file(open_keys, tmp_path):
    _, text = open_keys(**{"security.pepper": "a-pepper-of-our-own"}).create(role="read", by="test")
    assert open_keys(**{"security.pepper": "a-pepper-of-our-own"}).principal(text)
    assert open_keys(**{"security.pepper": "another-one-by-mistake"}).principal(text) is None
    assert not (tmp_path / "data" / PEPPER_FILE).exists()


def test_a_damaged_file_of_keys_is_left_as_it_is_and_lets_nobody_in(open_keys, tmp_path):
    open_keys().create(role="admin", by="test")
    path = tmp_path / "data" / ACCESS_FILE
    path.write_bytes(b"not a database at all" * 500)
    with pytest.raises(StorageUnavailable, match=r"access\.db"):
        open_keys()
    assert path.read_bytes().startswith(b"not a database")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"role": "boss"}, "role"),
        ({"tenant": "-"}, "tenant"),
        ({"projects": ["a/b"]}, "project"),
        ({"user": " "}, "user"),
        ({"label": "two\nlines"}, "label"),
        ({"expires_at": NOON}, "expires_at"),
    ],
)
def test_a_key_that_cannot_be_is_refused_naming_the_field(open_keys, tmp_path, wrong, field):
    with pytest.raises(InvalidRequest) as refused:
        open_keys().create(**{"role": "read", "by": "test"} | wrong)
    assert refused.value.field == field
    assert not (tmp_path / "data" / ACCESS_FILE).exists()


@pytest.mark.parametrize(
    "text", ["", "mn_live_", "mn_live_abcdefgh_short", "x" * 600, "mn_live_ABCDEFGH_" + "x" * 43, "\udcff"]
)
def test_a_text_that_is_no_key_opens_nothing(open_keys, text):
    keys = open_keys()
    keys.create(role="admin", by="test")
    assert keys.principal(text) is None


def test_two_first_keys_at_once_both_open(open_keys):
    made, both = [], [open_keys(), open_keys()]
    at_once = [
        threading.Thread(target=lambda keys=keys: made.append(keys.create(role="admin", by="test"))) for keys in both
    ]
    for each in at_once:
        each.start()
    for each in at_once:
        each.join()
    assert all(open_keys().principal(text) for _, text in made)
    assert len(made) == 2


def test_keys_are_listed_by_tenant_page_by_page(open_file, clock):
    file = open_file()
    keys = ApiKeys(file, clock)
    for number in range(5):
        clock.now += timedelta(seconds=1)
        keys.create(role="read", tenant="acme" if number % 2 else "default", label=str(number), by="test")
    first = keys.keys_page(None, limit=3)
    assert [key.label for key in (*first, *keys.keys_page(None, limit=3, after=first[-1]))] == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]
    assert [key.label for key in keys.keys_page("acme", limit=9)] == ["1", "3"]
    assert [(tenant.name, tenant.keys) for tenant in Tenants(file).all_tenants()] == [("acme", 2), ("default", 3)]
    with pytest.raises(NotFound):
        keys.get(first[0].id, "acme")


def test_a_key_that_was_made_while_the_file_was_looked_at_opens_at_once(open_file, clock, monkeypatch):
    file, read, made = open_file(), SqlApiKeys.state, []
    there, here = ApiKeys(file, clock), ApiKeys(open_file(), clock)
    file.open_or_create()

    def reading(rows: SqlApiKeys):
        found = read(rows)
        monkeypatch.setattr(SqlApiKeys, "state", read)
        made.append(there.create(role="read", by="test")[1])
        return found

    monkeypatch.setattr(SqlApiKeys, "state", reading)
    assert here.principal("mn_live_aaaaaaaa_" + "x" * 43) is None
    assert here.principal(made[0])


def test_a_directory_that_somebody_else_begins_meanwhile_is_no_remains_of_one(tmp_path):
    class SlowIdentity(DirectoryIdentity):
        """Looks for remains only after somebody else has begun the directory."""

        @property
        def remains(self):
            open_access_file(self.path.with_name(ACCESS_FILE), DirectoryIdentity(self.path.parent)).close()
            return super().remains

    slow = SlowIdentity(tmp_path)
    slow.ensure()
    assert slow.id == DirectoryIdentity(tmp_path).id
