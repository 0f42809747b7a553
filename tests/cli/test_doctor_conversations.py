"""`mnemoir doctor` on the files of conversations: it names damaged files and changes nothing."""

import asyncio
import gzip
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import requests

from mnemoir.cli.diagnosis.file_checks import check_conversations
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.conversations import MediaPart, Message, TextPart
from mnemoir.settings import load_settings
from mnemoir.storage.conversations.vector_file import VectorFileStore
from mnemoir.storage.objects.local import LocalObjects
from tests.acceptance.conversation_kit import bytes_below
from tests.serving import ServerProcess

NODE_MEMORY = b'{"version": 1, "messages": []}'


@pytest.fixture
def settings(tmp_path):
    return load_settings(None, {"storage.data_dir": str(tmp_path / "data")}, environ={"HOME": str(tmp_path)})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data" / "conversations"


@pytest.fixture
def folder(root: Path) -> Path:
    """That of Mira, who said something with a picture; nobody has it open."""
    mine = root / "default" / "mira"
    objects = LocalObjects(mine / "objects")
    picture = MediaPart(type="image", url=f"data:image/png;base64,{b64encode(b'a picture').decode()}")
    with MemoryManager(mine / "conversations.db") as manager:
        for number in range(200):
            manager.save_message("tea", Message("user", f"{number} about tea " * 20))
        manager.save_message(
            "tea", Attachments(objects).put_away(Message("user", [picture, TextPart("See?")]), "tea")
        )
    store = VectorFileStore("mnemoir_embeddings", mine)
    store.add(["msg_1"], [[1.0, 0.0]], ["tea"], [{}])
    store.close()
    objects.save("node_memory/app/tea/node.json", NODE_MEMORY)
    return mine


def overwrite(file: Path, at: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(content)


async def test_without_conversations_nothing_is_created(settings, root):
    finding = await check_conversations(settings)
    assert (finding.state, finding.found) == ("ok", "none yet")
    assert not root.exists()


async def test_intact_files_are_counted_by_user_and_left_unchanged(settings, root, folder):
    with MemoryManager(root / "other" / "otto" / "conversations.db") as manager:
        manager.save_message("tea", Message("user", "Hello"))
    before = bytes_below(root)
    finding = await check_conversations(settings)
    assert (finding.state, finding.found) == ("ok", f"{root}: of 2 users, whole")
    assert bytes_below(root) == before  # and nothing is there that was not


@pytest.mark.parametrize("name", ["conversations.db", "mnemoir_embeddings.vectors.db"])
async def test_an_overwritten_page_is_found_at_any_position(settings, folder, name):
    file = folder / name
    whole = file.read_bytes()
    pages = len(whole) // 4096
    for page in range(0, pages, max(1, pages // 20)):
        overwrite(file, page * 4096, b"\xff" * 16)
        finding = await check_conversations(settings)
        assert (finding.state, str(file) in finding.found) == ("fail", True), page
        assert "docs/conversations.md" in finding.to_do
        file.write_bytes(whole)
    assert (await check_conversations(settings)).state == "ok"


@pytest.mark.parametrize("name", ["conversations.db", "mnemoir_embeddings.vectors.db"])
async def test_a_truncated_file_is_found_at_any_length(settings, folder, name):
    file = folder / name
    whole = file.read_bytes()
    for part in range(20):
        file.write_bytes(whole[: len(whole) * part // 20])
        finding = await check_conversations(settings)
        assert (finding.state, str(file) in finding.found) == ("fail", True), part
    file.write_bytes(whole[:-1])
    assert (await check_conversations(settings)).state == "fail"


async def test_a_set_aside_file_is_reported_until_it_is_removed(settings, folder):
    asides = [
        folder / "conversations.db.corrupt-20260101T000000000000Z",
        folder / "objects" / "node_memory" / "app" / "tea" / "node.json.corrupt-20260101T000000000000Z",
    ]
    for aside in asides:
        aside.write_bytes(b"no database")
    finding = await check_conversations(settings)
    assert (finding.state, [finding.found.count(str(aside)) for aside in asides]) == ("fail", [1, 1])
    for aside in asides:
        aside.unlink()
    assert (await check_conversations(settings)).state == "ok"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"version": 1, "messages": 5}', gzip.compress(NODE_MEMORY, mtime=0)[:-9]]
)
async def test_a_node_memory_that_cannot_be_read_is_found(settings, folder, content):
    file = folder / "objects" / "node_memory" / "app" / "tea" / "node.json"
    file.write_bytes(content)
    finding = await check_conversations(settings)
    assert (finding.state, str(file) in finding.found) == ("fail", True)


@pytest.mark.parametrize("content", [gzip.compress(NODE_MEMORY, mtime=0), b'{"version": 99, "unknown": {}}'])
async def test_a_compressed_or_newer_node_memory_counts_as_intact(settings, folder, content):
    (folder / "objects" / "node_memory" / "app" / "tea" / "node.json").write_bytes(content)
    assert (await check_conversations(settings)).state == "ok"


async def test_a_picture_that_does_not_match_its_digest_is_found(settings, folder):
    (file,) = (folder / "objects" / "attachments" / "tea").iterdir()
    file.write_bytes(b"a pictuse")
    finding = await check_conversations(settings)
    assert (finding.state, str(file) in finding.found) == ("fail", True)


async def test_an_unfinished_file_of_a_writer_is_no_damage(settings, folder):
    (folder / "objects" / "attachments" / "tea" / f"{'0' * 64}.png.tmp").write_bytes(b"half a pic")
    assert (await check_conversations(settings)).state == "ok"


async def test_a_write_ahead_log_is_read_and_left_unchanged(settings, folder):
    with MemoryManager(folder / "conversations.db") as manager:
        manager.save_message("tea", Message("user", "One more"))
        finding = await check_conversations(settings)
        assert finding.state == "ok"
        assert manager.get_message_count("tea") == 202


def test_while_a_server_uses_the_files_they_are_checked_as_well(tmp_path, settings):
    body: dict[str, Any] = {"model": "any", "messages": [{"role": "user", "content": "Hello"}]}
    with ServerProcess(tmp_path / "data", environment={"MNEMOIR_LLM__PROVIDER": "offline"}) as server:
        chat = f"{server.url}/v1/chat/completions"
        assert requests.post(chat, json=body, headers={"X-Session-Id": "tea"}, timeout=30).status_code == 200
        finding = asyncio.run(check_conversations(settings))
        assert (finding.state, "1 user" in finding.found) == ("ok", True)
        listed = requests.get(f"{server.url}/api/conversations", timeout=30).json()
        assert [one["message_count"] for one in listed["results"]] == [2]
