"""kill -9 while a user's memories are encrypted anew and clients add to them: all that was acknowledged is read."""

import random
import threading

import pytest
import requests

from tests.acceptance.test_kill import Writer
from tests.cli.command_process import run_here
from tests.cli.test_encryption_commands import newest_key, sealed_by
from tests.serving import ServerProcess
from tests.storage.sealing_kit import a_key

pytestmark = pytest.mark.slow

KILLS = 20
CLIENTS = 2
USER = "everyone"


@pytest.fixture
def mnemoir(tmp_path, capsys):
    """The command line over the data directory, beside the server or without one."""
    keys = tmp_path / "kek"
    keys.write_text(a_key())
    keys.chmod(0o600)
    settings = tmp_path / "mnemoir.yaml"
    settings.write_text(f"llm: {{provider: offline}}\nencryption: {{mode: fields, key_file: {keys}}}\n")

    def run(*arguments: str) -> None:
        done = run_here(
            *arguments, "--data-dir", str(tmp_path / "data"), "--config", str(settings), cwd=tmp_path, capsys=capsys
        )
        assert done.returncode == 0, done.stderr

    return run


def test_twenty_kills_during_rotations_lose_no_acknowledged_memory(mnemoir, tmp_path):
    rng = random.Random(7)
    acknowledged: dict[str, list[str]] = {}
    server = ServerProcess(tmp_path / "data", arguments=["--config", str(tmp_path / "mnemoir.yaml")])
    database = server.data_dir / "mnemoir.db"
    for round_ in range(KILLS):
        server.start()
        answered = threading.Semaphore(0)
        writers = [Writer(server, f"round {round_} client {n}", acknowledged, answered) for n in range(CLIENTS)]
        for writer in writers:
            writer.start()
        assert answered.acquire(timeout=60)
        mnemoir("encryption", "rotate", "--user", USER)
        newest = f"{newest_key(tmp_path, USER):08x}"
        reached = rng.randint(1, 3 * len(acknowledged))
        while sealed_by(database, newest) < reached:
            assert answered.acquire(timeout=60)
        server.kill()
        for writer in writers:
            writer.join()
    mnemoir("encryption", "apply")
    with server:
        stored = all_of(server)
    missing = [label for label, ids in acknowledged.items() if not set(ids) <= stored]
    assert (missing, sealed_by(database, newest)) == ([], len(stored))


def all_of(server: ServerProcess) -> set[str]:
    """The ids of all memories, which are all decrypted for it."""
    found: set[str] = set()
    page = {"user_id": USER, "limit": "1000"}
    while page:
        answer = requests.get(f"{server.url}/api/memories", params=page, timeout=60).json()
        found |= {one["id"] for one in answer["results"] if "batch" in one["memory"]}
        page = answer["next"] and {**page, "cursor": answer["next"]}
    return found
