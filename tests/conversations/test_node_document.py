"""The stored document of a node's memory: the shapes read and written, compression, and damage."""

import contextlib
import gzip
import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.nodes.document import (
    COMPRESSED_ABOVE_BYTES,
    NewerDocument,
    NodeMemoryData,
    NodeMemoryFile,
    NodeMemoryMessage,
    UnreadableDocument,
    pack,
    read_document,
    unpack,
    write_document,
)
from mnemoir.core.errors import SettingsError, StorageUnavailable
from tests.conversations.node_kit import KEY, PlainStore, memory, say

SAMPLE = """{"version": 1, "messages": [
  {"message_id": "msg-001", "parent_message_id": null, "role": "user", "content": "...",
   "files": [{"type": "image", "transfer_method": "local_file", "upload_file_id": "up", "belongs_to": "user"}],
   "token_count": 15, "created_at": "2026-01-07T10:00:00Z"},
  {"message_id": "msg-002", "parent_message_id": "msg-001", "role": "assistant", "content": "...",
   "files": [], "token_count": 50, "created_at": "2026-01-07T10:00:01Z"}]}"""


def test_the_documented_sample_is_read_and_written_again_with_its_absent_keys_as_null() -> None:
    written = json.loads(write_document(read_document(SAMPLE.encode())))
    expected = json.loads(SAMPLE)
    expected["messages"][0]["files"][0].update(tool_file_id=None, url=None)
    assert written == expected


def test_turns_by_run_are_read_as_two_records_each_and_written_as_messages() -> None:
    file = {"type": "image", "transfer_method": "tool_file", "tool_file_id": "t"}
    turn = {"user_content": "q", "user_files": [], "assistant_content": "a", "assistant_files": [file]}
    data = read_document(json.dumps({"version": 1, "turns": {"run-1": turn, "run-2": {}}}).encode())
    assert [(m.message_id, m.role, m.content) for m in data.messages] == [
        ("run-1", "user", "q"),
        ("run-1", "assistant", "a"),
        ("run-2", "user", ""),
        ("run-2", "assistant", ""),
    ]
    assert data.messages[1].files == [
        NodeMemoryFile(type="image", transfer_method="tool_file", tool_file_id="t", belongs_to="assistant")
    ]
    written = json.loads(write_document(data))
    assert list(written) == ["version", "messages"]


@pytest.mark.parametrize("text", ["{}", '{"version": 1}', '{"messages": []}', '{"version": 1, "turns": {}}'])
def test_documents_that_hold_nothing_are_empty(text: str) -> None:
    assert read_document(text.encode()).messages == []


def test_a_parent_may_be_left_out_and_files_may_be_null() -> None:
    record = {"message_id": "1", "role": "user", "content": "a", "files": None, "created_at": "2026-01-07T10:00:00"}
    (read,) = read_document(json.dumps({"messages": [record]}).encode()).messages
    assert (read.parent_message_id, read.files) == (None, [])
    assert read.created_at == datetime(2026, 1, 7, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"messages"',
        "{",
        '{"version": 1, "else": 1}',
        '{"version": 0, "messages": []}',
        '{"version": "one", "messages": []}',
        '{"messages": {}}',
        '{"messages": [1]}',
        '{"messages": [{}]}',
        '{"messages": [{"message_id": "1", "role": "user", "content": null, "created_at": "2026-01-07T10:00:00Z"}]}',
        '{"turns": []}',
        '{"turns": {"run": 1}}',
        '{"turns": {"run": {"user_files": 1}}}',
        '{"messages": ' + "[" * 100_000,
    ],
)
def test_everything_else_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableDocument):
        read_document(text.encode())


@pytest.mark.parametrize("text", ['{"version": 2, "messages": []}', '{"version": 7, "messages": "of another shape"}'])
def test_a_later_version_is_told_apart_from_damage(text: str) -> None:
    with pytest.raises(NewerDocument):
        read_document(text.encode())


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
_members = {
    "message_id": st.text(max_size=4),
    "parent_message_id": st.none() | st.text(max_size=4),
    "role": st.sampled_from(["user", "assistant", "tool"]),
    "content": st.text(max_size=8),
    "created_at": st.sampled_from(["2026-01-07T10:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]),
}
_records = st.fixed_dictionaries(
    {}, optional={name: kind | _json for name, kind in _members.items()} | {"more": _json}
)
_documents = st.fixed_dictionaries(
    {},
    optional={"version": st.just(1) | _json, "messages": st.lists(_records, max_size=3) | _json, "turns": _json},
)


@given(_json | _documents)
def test_whatever_json_is_found_it_is_a_document_that_can_be_written_again_or_told_to_be_none(raw: Any) -> None:
    try:
        read = read_document(json.dumps(raw).encode())
    except (UnreadableDocument, NewerDocument):
        return
    assert read_document(write_document(read)) == read_document(write_document(read_document(write_document(read))))


@given(st.binary(max_size=64), st.integers(0, 500), st.integers(0, 255))
def test_whatever_bytes_are_found_nothing_else_is_raised(content: bytes, at: int, byte: int) -> None:
    flipped = bytearray(SAMPLE.encode())
    flipped[at % len(flipped)] = byte
    for bytes_found in (content, bytes(flipped)):
        with contextlib.suppress(UnreadableDocument, NewerDocument):
            read_document(bytes_found)


@given(st.text(), st.text(min_size=1), st.datetimes(timezones=st.just(UTC)))
def test_any_text_survives_a_round_trip(content: str, id: str, at: datetime) -> None:
    record = NodeMemoryMessage(message_id=id, parent_message_id=None, role="user", content=content, created_at=at)
    data = NodeMemoryData(messages=[record])
    assert read_document(write_document(data)) == data


def large_document() -> bytes:
    words = random.Random(5)
    text = " ".join(f"word{words.randrange(3000)}" for _ in range(600_000))
    return json.dumps({"version": 1, "messages": [], "text": text[: 5 * 1024 * 1024]}).encode()


@pytest.mark.slow
def test_five_megabytes_survive_compression_and_the_ratio_is_logged() -> None:
    document = large_document()
    packed = pack(document)
    assert packed.startswith(b"\x1f\x8b")
    assert len(packed) < len(document) / 2
    assert unpack(packed) == document
    with structlog.testing.capture_logs() as logs:
        own = memory(PlainStore())
        say(own, "1", "word " * 20_000, "yes")
        own.flush()
    assert logs[-1]["event"] == "node_memory_written"
    assert logs[-1]["ratio"] > 2


def test_only_what_is_above_the_limit_is_compressed_and_off_means_plain() -> None:
    small, large = b"x" * COMPRESSED_ABOVE_BYTES, b"x" * (COMPRESSED_ABOVE_BYTES + 1)
    assert pack(small) == small
    assert len(pack(large)) < 1000
    assert pack(large, "off") == unpack(large) == large
    assert pack(large) == pack(large)  # nothing in it depends on the time


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_a_stream_that_is_cut_off_damaged_or_followed_by_more_is_unreadable(compression: Any) -> None:
    if compression == "zstd":
        pytest.importorskip("zstandard")
    packed = pack(large_document(), compression)
    broken = [packed[:6], packed[: len(packed) // 2], packed[:-1], packed + b"more", packed[:9] + b"\xff" * 50]
    for stored in broken:
        with pytest.raises(UnreadableDocument):
            unpack(stored)


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_unpacking_stops_at_its_bound(compression: Any) -> None:
    if compression == "zstd":
        pytest.importorskip("zstandard")
    bomb = pack(b"\0" * 50_000_000, compression)
    assert len(bomb) < 1_000_000
    assert len(unpack(bomb)) == 50_000_000
    with pytest.raises(UnreadableDocument, match="longer than 1000000 bytes"):
        unpack(bomb, largest=1_000_000)


def test_zstd_survives_a_round_trip() -> None:
    pytest.importorskip("zstandard")
    document = large_document()
    packed = pack(document, "zstd")
    assert packed.startswith(b"\x28\xb5\x2f\xfd")
    assert unpack(packed) == document


def test_without_zstd_a_document_is_out_of_reach_and_not_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)  # an import of it fails
    store = PlainStore({KEY: b"\x28\xb5\x2f\xfdwhatever"})
    own = memory(store)
    say(own, "1", "a", "b")
    assert own.get_history_prompt_messages("1", "tenant") == []
    with pytest.raises(StorageUnavailable, match="pip install zstandard"):
        own.flush()
    assert list(store.objects) == [KEY]
    with pytest.raises(SettingsError, match="pip install zstandard"):
        pack(b"x" * 100_000, "zstd")


def test_an_object_written_by_another_gzip_is_read() -> None:
    assert read_document(unpack(gzip.compress(SAMPLE.encode(), 9))).messages[1].token_count == 50
