"""Thread and node memory under real faults (2.7, 2.12 of the reference)."""

import gzip
import json
import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from mnemoir.conversations.log.files import FileRef
from mnemoir.conversations.nodes.memory import NodeParts, NodeTokenBufferMemory
from mnemoir.conversations.turns.threads import NIL
from mnemoir.conversations.turns.token_buffer import TokenBufferMemory
from mnemoir.core.conversations import MediaPart, TextPart
from mnemoir.core.errors import Conflict, StorageUnavailable
from mnemoir.ports.objects import ConditionalStore
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.opening import open_objects
from tests.conversations.chats import LetterModel, attachment, chat, line, shelf
from tests.conversations.node_kit import KEY, WordsModel, memory, texts
from tests.conversations.s3_stub import BUCKET, serving_bucket
from tests.narrowing import present

BYTES = 20  # of an object, flipped one after the other
HOSTILE = [
    "../x",
    "..\\x",
    "%2e%2e%2f",
    "/etc/x",
    "C:x",
    "x\0",
    ".",
    "..",
    "x" * 300,
    "CON",
    "x.",
    "x ",
    "\u202ex",
    "a",
    "A",
    "é",
    "e\u0301",
    "a/b",
    "\ud800",
]
QUICK = {
    "retry_config": {
        "max_retries": 1,
        "retry_timeout": timedelta(seconds=5),
        "backoff": {
            "init_backoff": timedelta(milliseconds=1),
            "max_backoff": timedelta(milliseconds=2),
            "base": 2,
        },
    }
}


@pytest.fixture
def store(tmp_path: Path) -> LocalObjects:
    """A directory with the memory of two turns in it."""
    store = LocalObjects(tmp_path)
    own = memory(store, compression="off")
    say(own, "1", "a", "b")
    say(own, "2", "c", "d")
    own.flush()
    return store


def say(own: NodeTokenBufferMemory, turn: str, question: str, answer: str) -> None:
    own.add_messages(turn, NIL, question, [], answer, [])


def history(store: ConditionalStore) -> list[str]:
    return texts(memory(store).get_history_prompt_messages("now", "me"))


def add_a_turn(store: ConditionalStore) -> None:
    own = memory(store)
    say(own, "3", "e", "f")
    own.flush()


def copies(root: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((root / KEY).parent.glob("node.json.corrupt-*"))]


# --- objects


def test_a_missing_object_is_an_empty_memory(tmp_path):
    assert history(LocalObjects(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("twentieth", range(BYTES))
def test_a_flipped_byte_loses_no_turn_for_ever(store, tmp_path, twentieth):
    path = tmp_path / KEY
    flipped = bytearray(path.read_bytes())
    flipped[(len(flipped) - 1) * twentieth // (BYTES - 1)] ^= 0x80  # no letter of JSON any more
    path.write_bytes(flipped)
    assert history(store) == []
    add_a_turn(store)
    assert history(store) == ["e", "f"]
    assert copies(tmp_path) == [bytes(flipped)]


@pytest.mark.parametrize(
    "found",
    [
        b"",
        b"{",
        b"[]",
        b'{"messages": 7}',
        b"\x00" * 100,
        gzip.compress(b"{}" * 99, mtime=0)[:-9],
        b"\x1f\x8b",
        b'"text"',
    ],
    ids=range(8),
)
def test_unreadable_bytes_are_copied_before_anything_is_written(store, tmp_path, found):
    (tmp_path / KEY).write_bytes(found)
    with capture_logs() as logs:
        assert history(store) == []
        add_a_turn(store)
    assert copies(tmp_path) == [found]
    assert {line["event"] for line in logs if line["log_level"] == "warning"} == {"node_memory_damaged"}


def test_a_memory_of_a_later_version_gives_nothing_and_is_never_touched(store, tmp_path):
    path = tmp_path / KEY
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))
    was = path.read_bytes()
    assert history(store) == []
    with pytest.raises(Conflict, match="later version"):
        add_a_turn(store)
    with pytest.raises(Conflict, match="later version"):
        memory(store).clear()
    assert (path.read_bytes(), copies(tmp_path)) == (was, [])


def test_a_directory_that_is_out_of_reach_gives_nothing_and_a_flush_raises(store, tmp_path):
    shutil.move(tmp_path / "node_memory", tmp_path / "elsewhere")
    (tmp_path / "node_memory").write_text("a file where the folder should be")
    own = memory(store)
    assert texts(own.get_history_prompt_messages("now", "me")) == []
    say(own, "3", "e", "f")
    with pytest.raises(StorageUnavailable):
        own.flush()
    (tmp_path / "node_memory").unlink()
    shutil.move(tmp_path / "elsewhere", tmp_path / "node_memory")
    own.flush()
    assert history(store) == ["a", "b", "c", "d", "e", "f"]


def test_a_bucket_that_fails_gives_nothing_a_flush_raises_and_what_is_stored_stays():
    with serving_bucket() as bucket:
        remote = open_objects(f"s3://{BUCKET}", {**bucket.options(), **QUICK})
        add_a_turn(remote)
        was = bucket.objects[KEY][0]
        bucket.failures = [503] * 100
        own = memory(remote)
        assert texts(own.get_history_prompt_messages("now", "me")) == []
        say(own, "4", "g", "h")
        with pytest.raises(StorageUnavailable):
            own.flush()
        assert bucket.objects[KEY][0] == was
        bucket.failures = []
        own.flush()
        assert history(remote) == ["e", "f", "g", "h"]


def memory_at(root: Path, ids: Sequence[str]) -> NodeTokenBufferMemory:
    app, conversation, node = ids
    return NodeTokenBufferMemory(app, conversation, node, WordsModel(), parts=NodeParts(objects=LocalObjects(root)))


def test_no_id_leaves_its_folder_and_no_two_share_an_object(tmp_path):
    root = tmp_path / "root"
    kept = {}
    for place in range(3):
        for id in HOSTILE:
            ids = ["app", "talk", "node"]
            ids[place] = id
            own = memory_at(root, ids)
            say(own, "1", f"{place} {id!r}", "ok")
            own.flush()
            kept[tuple(ids)] = f"{place} {id!r}"
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
    assert len([path for path in root.rglob("*") if path.is_file()]) == len(kept)
    for names, text in kept.items():
        own = memory_at(root, names)
        assert texts(own.get_history_prompt_messages("now", "me")) == [text, "ok"]


# --- files of the history


def test_files_are_shown_even_if_uploading_them_is_no_longer_allowed():
    rules_now = {
        "file_upload": {
            "enabled": True,
            "allowed_file_types": ["document"],
            "allowed_file_extensions": [".txt"],
            "allowed_file_upload_methods": ["remote_url"],
            "number_limits": 0,
            "image": {"enabled": False, "number_limits": 0, "transfer_methods": []},
        }
    }
    talk = chat(line(1), attachment("t0", "cat.png"), files=shelf("cat.png"), model_config=rules_now)
    [question, _] = TokenBufferMemory(talk, LetterModel()).get_history_prompt_messages()
    assert [type(part) for part in present(question.content)] == [MediaPart, TextPart]


def test_a_node_goes_on_without_missing_files(tmp_path):
    parts = NodeParts(objects=LocalObjects(tmp_path), files=shelf("there.png"))
    own = NodeTokenBufferMemory("app", "talk", "node", WordsModel(), parts=parts)
    refs = [
        FileRef(type="image", transfer_method="local_file", upload_file_id=f"{name}.png")
        for name in ("gone", "there")
    ]
    own.add_messages("1", None, "look", refs, "a cat", [refs[0]])
    own.flush()
    question, answer = own.get_history_prompt_messages("now", "me")
    assert [type(part) for part in present(question.content)] == [MediaPart, TextPart]
    assert answer.content == "a cat"
