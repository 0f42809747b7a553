"""Too many tries to sign in lock out who guesses, by network and from wherever, and not the person."""

from contextlib import closing
from datetime import timedelta

import aiohttp
import orjson
import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.sign_in.devices import KNOWN_FOR, Devices
from mnemoir.access.sign_in.sessions import Sessions
from mnemoir.core.clock import utc_now
from mnemoir.settings import load_settings
from tests.server.sign_in.page import PASSWORD, joined
from tests.server.storages import database_settings  # noqa: F401  # the fixture

LOCKED = "Too many tries to sign in failed."


class Door:
    """The sign-in of a server behind a proxy, tried from any network."""

    def __init__(self, server, http: aiohttp.ClientSession) -> None:
        self.server = server
        self._http = http

    async def tried(
        self, name: str, password: str, address: str, cookie: str = "", way: str = "password"
    ) -> tuple[int, str, list[str]]:
        """The status, the error and the cookies of a try."""
        sent = {"origin": self.server.url, "x-forwarded-for": address, **({"cookie": cookie} if cookie else {})}
        body = {"name": name, "code" if way == "recovery" else "password": password}
        async with self._http.post(f"{self.server.url}/api/auth/{way}", json=body, headers=sent) as answer:
            told = orjson.loads(await answer.read())
            cookies = [one.partition(";")[0] for one in answer.headers.getall("set-cookie", [])]
            return answer.status, told.get("error", ""), cookies

    async def status(self, *asked: str, **more: str) -> int:
        return (await self.tried(*asked, **more))[0]

    async def fail(self, name: str, address: str, times: int = 10) -> None:
        """So many wrong passwords, each of which is told to be wrong."""
        assert [await self.status(name, "wrong", address) for _ in range(times)] == [401] * times

    async def fail_from_ten_networks(self, name: str) -> None:
        for number in range(10):
            await self.fail(name, f"10.1.{number}.1")

    async def device(self, name: str) -> str:
        """The cookie of a device on which somebody signed in."""
        status, _, cookies = await self.tried(name, PASSWORD, "10.9.0.1")
        (found,) = [one for one in cookies if "-device-" in one]
        assert (status, len(cookies)) == (200, 2)
        return found


@pytest.fixture
async def door(listen, http, clock) -> Door:
    """A server on which Anna and Ben have joined, at a time that stands still."""
    server = await listen(trusted_proxies=["127.0.0.1/32"])
    for name in ("anna", "ben"):
        await joined(server, name)
    return Door(server, http)


@pytest.mark.parametrize(
    ("first", "same", "other"),
    [
        ("10.0.0.1", "10.0.0.1", "10.0.0.2"),
        ("::ffff:10.0.0.1", "10.0.0.1", "10.0.0.2"),
        ("2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"),
    ],
)
async def test_ten_wrong_tries_from_a_network_shut_it_out_and_nobody_elsewhere(door, clock, first, same, other):
    await door.fail("anna", first)
    clock.now += 70  # the address alone may send wrong ones again
    status, error, _ = await door.tried("Anna", PASSWORD, same)
    assert (status, error.startswith(LOCKED)) == (429, True)
    assert await door.status("anna", PASSWORD, other) == 200
    assert await door.status("ben", PASSWORD, same) == 200
    clock.now += 600
    assert await door.status("anna", PASSWORD, same) == 200


async def test_beyond_a_hundred_tries_only_a_device_of_that_person_is_let_through(door):
    mine, bens = await door.device("anna"), await door.device("ben")
    await door.fail_from_ten_networks("anna")
    name, _, token = mine.partition("=")
    forged = f"{name}={token[:-1]}{chr(ord(token[-1]) + 1)}"  # the same bytes, for those who read it with less care
    moved = f"{name}={bens.partition('=')[2]}"
    for cookie in ("", bens, forged, moved, f"{name}=", f"{name}={'A' * 43}"):
        status, error, cookies = await door.tried("anna", PASSWORD, "10.2.0.1", cookie)
        assert (status, error.startswith(LOCKED), cookies) == (429, True, []), cookie
    assert await door.status("anna", PASSWORD, "10.2.0.1", mine) == 200
    assert await door.status("anna", PASSWORD, "10.2.0.2", f"{bens}; {mine}") == 200
    assert await door.status("anna", PASSWORD, "10.2.0.3") == 429  # what was right opened nothing to others
    assert await door.status("ben", PASSWORD, "10.2.0.1") == 200


@pytest.mark.slow
async def test_the_tries_of_a_device_are_counted_wherever_they_come_from(door):
    mine = await door.device("anna")
    await door.fail_from_ten_networks("anna")
    tries = [await door.status("anna", "wrong", f"10.3.{number}.1", mine) for number in range(11)]
    assert tries == [401] * 10 + [429]


@pytest.mark.slow
async def test_known_and_unknown_names_get_the_same_words_and_recovery_codes_count_as_passwords_do(door):
    told: dict[tuple[object, str], set[tuple[int, str]]] = {}
    for number, name in enumerate(("anna", "nobody"), 10):
        for network in range(10):
            for way in ("password", "recovery") * 5:
                found = await door.tried(name, "wrong", f"10.{number}.{network}.1", way=way)
                told.setdefault((network, way), set()).add(found[:2])
        for way in ("password", "recovery"):
            found = await door.tried(name, PASSWORD, f"10.{number}.99.1", way=way)
            told.setdefault(("locked", way), set()).add(found[:2])
    assert {len(words) for words in told.values()} == {1}
    assert {status for status, _ in told["locked", "password"] | told["locked", "recovery"]} == {429}


@pytest.mark.slow
async def test_the_audit_log_tells_once_when_nobody_is_let_through_any_more(door):
    await door.device("anna")
    for name in ("anna", "nobody"):
        for number in range(10):
            await door.fail(name, f"10.{6 if name == 'anna' else 7}.{number}.1")
        assert await door.status(name, PASSWORD, "10.8.0.1") == 429
    log, _ = door.server.parts.access.file.audit_log()
    entries = [entry for entry in log.newest(None, limit=1000) if entry.action == "sign_in.locked"]
    anna = door.server.parts.access.users.with_hash("anna")[0]
    assert [(entry.target, entry.user, entry.address) for entry in entries] == [
        ("", "", "10.7.9.1"),
        (anna.id, anna.grant.memory_user, "10.6.9.1"),
    ]


def test_a_device_is_known_for_ninety_days_by_its_own_person_alone(tmp_path):
    now = [utc_now()]
    with closing(AccessFile(load_settings(None, {"storage.data_dir": str(tmp_path)}, environ={}))) as file:
        devices = Devices(file, lambda: now[0])
        token = devices.new_token("u1")
        asked = [("u1", token), ("u2", token), ("", token), ("u1", ""), ("u1", token[::-1]), ("u1", f"{token}A")]
        assert [devices.has_signed_in(*each) for each in asked] == [True, False, False, False, False, False]
        assert not devices.has_signed_in("", devices.new_token(""))
        assert devices.name_of("u1") != devices.name_of("u2")
        now[0] += KNOWN_FOR - timedelta(seconds=2)
        assert devices.has_signed_in("u1", token)
        now[0] += timedelta(seconds=2)
        assert not devices.has_signed_in("u1", token)
        now[0] -= KNOWN_FOR + timedelta(days=1)  # a clock that was set back
        assert not devices.has_signed_in("u1", token)


async def test_a_right_try_that_ends_in_the_next_minute_gives_no_further_one(door, clock, monkeypatch):
    signing_in = Sessions.begin

    def begin(self, *given, **named):
        clock.now += 3600  # the password was looked at for that long
        return signing_in(self, *given, **named)

    monkeypatch.setattr(Sessions, "begin", begin)
    assert await door.status("ben", PASSWORD, "10.0.0.9") == 200
    await door.fail("anna", "10.0.0.9", 6)
    await door.fail("nobody", "10.0.0.9", 4)
    assert await door.status("nobody", "wrong", "10.0.0.9") == 429  # of that address
