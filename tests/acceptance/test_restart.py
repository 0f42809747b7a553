"""Starting again over what is there: with the same answers, and never over what is damaged."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import requests

from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import Add, IndexEntry, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.search.terms import terms_and_forms_of
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.cli.command_process import run
from tests.serving import ServerProcess

MANY = 10_000
RESTARTS = 3
MIRA = Scope(project="default", user="mira")


async def fill(path: Path) -> None:
    """Ten thousand messages with vectors of the built-in model, made up because real ones take half a minute."""
    model, said_at, vector = MiniLM().name, to_text(utc_now()), bytes(2 * 383) + b"\x00\x3c"

    def message(number: int) -> Add:
        text = f"This is what was said as number {number}"
        memory = Memory(id=new_memory_id(), text=text, user="mira", created_at=said_at, kind="message", role="user")
        return Add(memory=memory, entry=IndexEntry(terms=terms_and_forms_of(text), model=model, vector=vector))

    database = open_database(path)
    store = SqlMemoryStore(database)
    for start in range(0, MANY, 1000):
        adds = [message(start + number) for number in range(1000)]
        await store.commit(MIRA, adds, Provenance(reason="verbatim"))
    await database.aclose()


def add(server: ServerProcess, text: str) -> tuple[int, object]:
    """Add under the text's own key."""
    body: dict[str, Any] = {"messages": [{"role": "user", "content": text}], "user_id": "mira", "infer": False}
    answer = requests.post(f"{server.url}/api/memories", json=body, headers={"Idempotency-Key": text}, timeout=60)
    return answer.status_code, answer.json()["results"]


def total(server: ServerProcess) -> int:
    listed = requests.get(f"{server.url}/api/memories", params={"user_id": "mira", "limit": "1"}, timeout=60)
    found: int = listed.json()["total"]
    return found


@pytest.mark.slow
def test_after_kill_9_ten_thousand_memories_are_there_and_a_repeat_is_answered_as_before(tmp_path):
    asyncio.run(fill(tmp_path / "data" / "mnemoir.db"))
    server, told = ServerProcess(tmp_path / "data"), []
    try:
        for number in range(RESTARTS):
            server.start()
            assert total(server) == MANY + number
            told.append(add(server, "the first"))
            if number:
                add(server, f"one more, number {number}")
            server.kill()
    finally:
        server.kill()
    assert told == [told[0]] * RESTARTS


@pytest.mark.slow
def test_an_emptied_database_is_refused_by_name_and_not_begun_anew(tmp_path):
    path = tmp_path / "data" / "mnemoir.db"
    asyncio.run(open_database(path).aclose())
    path.write_bytes(b"")
    done = run("serve", "--port", "0", "--data-dir", str(path.parent), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_bytes() == b""
