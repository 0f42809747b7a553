"""The keys of files that clients' keys stand for: derived once each, a few kept, and none shown."""

import asyncio

from mnemoir.core.discussions import ClientKeys
from mnemoir.storage.discussions import client_keys
from mnemoir.storage.discussions.client_keys import ClientKeyRing, folder_name


def counting(monkeypatch):
    """The ring's derivations, which cost nothing here."""
    done = []

    def derived(key, user):
        done.append((key, user))
        return f"{key} {user}".encode()

    monkeypatch.setattr(client_keys, "fernet_key_of", derived)

    return done


async def test_a_key_is_derived_once_however_many_ask_and_once_for_each_user(monkeypatch):
    done, ring = counting(monkeypatch), ClientKeyRing()
    found = await asyncio.gather(*(ring.folder("k", user) for user in ("ann", "ben", "ann", "ann")))
    assert sorted(done) == [("k", "ann"), ("k", "ben")]
    assert [one.secret for one in found] == [b"k ann", b"k ben", b"k ann", b"k ann"]
    assert {one.name for one in found} == {folder_name("k")}


async def test_only_so_many_are_kept_and_those_used_last_stay(monkeypatch):
    done, ring = counting(monkeypatch), ClientKeyRing(most_kept=2)
    for key in ("a", "b", "a", "c", "a", "b"):
        await ring.folder(key, "ann")
    assert [key for key, _ in done] == ["a", "b", "c", "b"]


async def test_nothing_is_derived_where_files_are_plain(monkeypatch):
    done = counting(monkeypatch)
    assert (await ClientKeyRing().folder("k", None)).secret is None
    assert done == []


async def test_no_key_is_shown(monkeypatch):
    counting(monkeypatch)
    shown = repr(ClientKeys(current="mine", previous="former")) + repr(await ClientKeyRing().folder("mine", "ann"))
    assert "mine" not in shown
    assert "former" not in shown
