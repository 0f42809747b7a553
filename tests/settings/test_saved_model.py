"""The saved language model on disk: whole or as before, for its owner alone, below what the settings say."""

import errno
import os

import pytest
from pydantic import SecretStr

from mnemoir.core.errors import SettingsError, StorageUnavailable
from mnemoir.core.network import is_off_limits
from mnemoir.settings import load_settings
from mnemoir.settings.saved_model import EMBEDDING_MODEL, LANGUAGE_MODEL, SavedModel, origin_of
from mnemoir.settings.saved_role import SAVED_CHAT
from tests.failing_calls import failing_calls
from tests.faulty_files import FaultyFiles
from tests.narrowing import present

KEY = SecretStr("sk-canary-of-the-store")
FIRST = SavedModel(provider="openai-chat", url="http://127.0.0.1:8080/v1", model="qwen3", key=KEY)
SECOND = SavedModel(provider="openai-chat", url="http://127.0.0.1:1234/v1", model="gemma", key=SecretStr("sk-second"))


def settings(tmp_path, **given):
    named = {f"llm.{name}": value for name, value in given.items()}
    return load_settings(None, {"storage.data_dir": tmp_path, **named}, environ={})


def test_what_is_saved_is_read_again_and_its_key_lies_in_a_file_of_its_own(tmp_path):
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    assert LANGUAGE_MODEL.read(tmp_path) == FIRST
    assert present(present(LANGUAGE_MODEL.read(tmp_path)).key).get_secret_value() == KEY.get_secret_value()
    holders = [path.name for path in (tmp_path / "settings").iterdir() if KEY.get_secret_value() in path.read_text()]
    assert [name.partition("-")[0] for name in holders] == ["key"]
    assert KEY.get_secret_value() not in repr(FIRST)


def test_nothing_saved_is_no_model(tmp_path):
    assert LANGUAGE_MODEL.read(tmp_path) is None
    LANGUAGE_MODEL.forget(tmp_path)
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    LANGUAGE_MODEL.forget(tmp_path)
    assert (LANGUAGE_MODEL.read(tmp_path), list((tmp_path / "settings").iterdir())) == (None, [])


def test_the_embedding_model_lies_beside_it_with_a_key_of_its_own(tmp_path):
    embedding = SavedModel(provider="openai", url=FIRST.url, model="vectors", key=SecretStr("sk-of-the-vectors"))
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    EMBEDDING_MODEL.save(tmp_path, embedding)
    LANGUAGE_MODEL.save(tmp_path, SECOND)
    EMBEDDING_MODEL.drop_former_keys(tmp_path)
    assert (LANGUAGE_MODEL.read(tmp_path), EMBEDDING_MODEL.read(tmp_path)) == (SECOND, embedding)
    LANGUAGE_MODEL.forget(tmp_path)
    assert present(EMBEDDING_MODEL.read(tmp_path)).key == embedding.key
    assert len(list((tmp_path / "settings").iterdir())) == 2


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_its_files_are_their_owners_alone_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        LANGUAGE_MODEL.save(tmp_path, FIRST)
    finally:
        os.umask(before)
    folder = tmp_path / "settings"
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}
    assert oct(folder.stat().st_mode & 0o777) == "0o700"


@failing_calls
def test_a_save_that_fails_leaves_one_whole_model(tmp_path, monkeypatch, failing):
    disk = FaultyFiles(monkeypatch)
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    disk.arm(0)
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    calls = [name for name, _ in disk.seen]
    for attempt in failing(disk, calls, errno.ENOSPC):
        LANGUAGE_MODEL.save(tmp_path, FIRST)
        with attempt:
            LANGUAGE_MODEL.save(tmp_path, SECOND)
        found = LANGUAGE_MODEL.read(tmp_path)
        assert found in (FIRST, SECOND)
        assert found.key == {FIRST.url: FIRST.key, SECOND.url: SECOND.key}[found.url]
        if attempt.told is None:
            assert found == SECOND
    assert len(list((tmp_path / "settings").iterdir())) == 2


def test_a_disk_that_refuses_is_named(tmp_path, monkeypatch):
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    disk = FaultyFiles(monkeypatch)
    disk.arm(1, errno.EROFS)
    with pytest.raises(StorageUnavailable, match="could not be saved there: Read-only file system"):
        LANGUAGE_MODEL.save(tmp_path, SECOND)
    disk.disarm()
    assert LANGUAGE_MODEL.read(tmp_path) == FIRST


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"provider": "openai-chat"}', b"\xff\xfe", b"null"])
def test_a_damaged_file_stops_the_start_and_names_itself_and_the_next_step(tmp_path, content):
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    path = tmp_path / "settings" / "model.json"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"is damaged.*mnemoir model set") as told:
        LANGUAGE_MODEL.read(tmp_path)
    assert str(path) in told.value.message
    LANGUAGE_MODEL.drop_former_keys(tmp_path)
    assert len(list(path.parent.glob("key-*"))) == 1  # for a copy of the file, which may be put back
    LANGUAGE_MODEL.save(tmp_path, SECOND)
    assert LANGUAGE_MODEL.read(tmp_path) == SECOND


def test_what_a_killed_save_leaves_is_removed_at_the_next_start(tmp_path):
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    for name in ("key-0123456789abcdef.json", "key-0123456789abcdef.json.tmp"):
        (tmp_path / "settings" / name).write_text(KEY.get_secret_value())
    LANGUAGE_MODEL.drop_former_keys(tmp_path)
    assert (LANGUAGE_MODEL.read(tmp_path), len(list((tmp_path / "settings").iterdir()))) == (FIRST, 2)


def test_an_address_that_no_model_has_is_not_read_from_the_file_either(tmp_path):
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    path = tmp_path / "settings" / "model.json"
    path.write_text(path.read_text().replace("127.0.0.1:8080", "169.254.169.254"))
    with pytest.raises(SettingsError, match="is damaged"):
        LANGUAGE_MODEL.read(tmp_path)


def test_a_key_stays_with_its_address_also_where_the_file_is_edited(tmp_path):
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    path = tmp_path / "settings" / "model.json"
    path.write_text(path.read_text().replace("8080", "9999"))
    saved = present(LANGUAGE_MODEL.read(tmp_path))
    assert (saved.url, saved.key) == (
        "http://127.0.0.1:9999/v1",
        None,
    )


def test_a_copy_without_the_key_starts_without_it(tmp_path):
    LANGUAGE_MODEL.save(tmp_path, FIRST)
    for path in (tmp_path / "settings").glob("key-*"):
        path.unlink()
    saved = present(LANGUAGE_MODEL.read(tmp_path))
    assert (saved.model, saved.key) == ("qwen3", None)


# --- precedence


def test_a_saved_model_fills_in_what_the_settings_leave_open(tmp_path):
    llm = SAVED_CHAT.settings_with(settings(tmp_path), FIRST).llm
    assert (llm.provider, llm.base_url, llm.model, llm.api_key) == ("openai-chat", FIRST.url, "qwen3", KEY)
    assert SAVED_CHAT.settings_with(settings(tmp_path), None).llm == settings(tmp_path).llm


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"model": "theirs"}, {"model": "theirs", "base_url": FIRST.url, "api_key": KEY}),
        ({"provider": "auto"}, {"provider": "openai-chat", "model": "qwen3"}),
        ({"provider": "offline"}, {"provider": "offline", "model": None, "api_key": None}),
        ({"provider": "ollama", "model": "llama"}, {"provider": "ollama", "model": "llama"}),
        ({"base_url": "http://127.0.0.1:9/v1"}, {"base_url": "http://127.0.0.1:9/v1", "api_key": None}),
        ({"base_url": "http://127.0.0.1:8080/other"}, {"base_url": "http://127.0.0.1:8080/other", "api_key": KEY}),
        ({"api_key": "sk-theirs"}, {"base_url": FIRST.url, "api_key": KEY}),
        (
            {"api_key": "sk-theirs", "base_url": FIRST.url},
            {"base_url": FIRST.url, "api_key": SecretStr("sk-theirs")},
        ),
    ],
)
def test_the_settings_come_first_and_no_key_goes_to_another_address(tmp_path, given, expected):
    llm = SAVED_CHAT.settings_with(settings(tmp_path, **given), FIRST).llm
    assert {name: getattr(llm, name) for name in expected} == expected


def test_scheme_host_and_port_are_the_origin():
    same = {origin_of(url) for url in ("https://API.example/v1", "https://api.example:443", "https://api.example/x")}
    other = {origin_of(url) for url in ("http://api.example", "https://api.example:8443", "https://api.example.evil")}
    assert (len(same), len(other | same)) == (1, 4)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("169.254.1.1", True),
        ("fe80::1%eth0", True),
        ("febf::1", True),
        ("::ffff:169.254.169.254", True),
        ("64:ff9b::a9fe:a9fe", True),
        ("100.100.100.200", True),
        ("127.0.0.1", False),
        ("192.168.1.20", False),
        ("::1", False),
        ("api.openai.com", False),
    ],
)
def test_link_local_and_metadata_addresses_are_off_limits(host, expected):
    assert is_off_limits(host) is expected
