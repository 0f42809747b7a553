"""`mnemoir encryption`: on a data directory, beside a running server and without one."""

import json
from pathlib import Path

import pytest

from tests.cli.command_process import Done, run_here
from tests.storage.sealing_kit import a_key


@pytest.fixture
def mnemoir(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`mnemoir` over a data directory; `sealed` with encryption on."""
    keys = tmp_path / "kek"
    keys.write_text(a_key())
    keys.chmod(0o600)
    (tmp_path / "mnemoir.yaml").write_text(
        f"llm: {{provider: offline}}\nencryption: {{mode: fields, key_file: {keys}, allow_plain: [conversations]}}\n"
    )
    (tmp_path / "plain.yaml").write_text(f"llm: {{provider: offline}}\nencryption: {{key_file: {keys}}}\n")

    def run(*arguments: str, sealed: bool = True, **given: str) -> Done:
        where = (
            "--data-dir",
            str(tmp_path / "data"),
            "--config",
            str(tmp_path / ("mnemoir.yaml" if sealed else "plain.yaml")),
        )
        return run_here(*arguments, *where, cwd=tmp_path, capsys=capsys, **given)

    return run


def made(done: Done) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_data_directory_is_encrypted_rotated_and_written_in_plain_again(mnemoir, tmp_path) -> None:
    assert mnemoir("memories", "add", "I like Zanzibarquince", "--user", "mira", sealed=False).returncode == 0
    assert made(mnemoir("encryption", "status", "--json", sealed=False))["users"] == 1
    stored = tmp_path / "data" / "mnemoir.db"
    assert b"Zanzibarquince" in stored.read_bytes()
    assert made(mnemoir("encryption", "apply", "--json")) == {"users": 1, "failed": 0}
    assert b"Zanzibarquince" not in stored.read_bytes()
    assert made(mnemoir("encryption", "rotate", "--user", "mira", "--json")) == {"rotated": 1}
    assert made(mnemoir("encryption", "status", "--json"))["encrypted"] == 1  # by a former key
    assert made(mnemoir("encryption", "apply", "--json")) == {"users": 1, "failed": 0}
    told = mnemoir("encryption", "status").stdout
    assert "1 of 1 encrypted" in told
    assert "conversations: messages" in told
    assert made(mnemoir("encryption", "apply", "--json", sealed=False)) == {"users": 1, "failed": 0}
    assert b"Zanzibarquince" in stored.read_bytes()


def test_keys_are_wrapped_anew_and_destroyed(mnemoir, tmp_path) -> None:
    mnemoir("keys", "create")
    mnemoir("memories", "add", "I like tea", "--user", "mira", API_KEYS="")
    (tmp_path / "kek").write_text(f"{a_key(2)}\n{a_key()}")
    assert made(mnemoir("encryption", "rewrap", "--json"))["rewrapped"] >= 1
    (tmp_path / "kek").write_text(a_key(2))
    assert made(mnemoir("encryption", "erase-key", "--user", "mira", "--yes", "--json"))["destroyed"] == 1
    assert made(mnemoir("encryption", "status", "--json"))["destroyed_keys"] == 1
    refused = mnemoir("memories", "list", "--user", "mira")
    assert (refused.returncode, "was destroyed" in refused.stderr) == (1, True)
    log = made(mnemoir("audit", "list", "--json"))["results"]
    assert [(one["action"], one["target"], one["result"]) for one in log[:2]] == [
        ("encryption.erase-key", "mira", "done"),
        ("encryption.erase-key", "mira", "begun"),
    ]


def test_without_keys_or_a_user_it_says_what_to_do(mnemoir) -> None:
    assert "no key store" in mnemoir("encryption", "rewrap").stderr
    assert "--user NAME, or --all" in mnemoir("encryption", "rotate").stderr
