"""The bytes of memories.json: what is written, what is kept, what is refused, and under which rights."""

import os
import stat
from pathlib import Path

import pytest

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.ports.memory_store import Project
from mnemoir.storage.files.project_file import ProjectFile, Record, decode, encode
from mnemoir.storage.files.rows import memory_of, record_of, rewritten
from tests.narrowing import present

DEMO = Project(tenant="default", project="demo")
FACT = Memory(
    id=MemoryId("mem_1"),
    text="Isst gern Käse 🧀",
    user="mira",
    created_at="2026-03-04T09:15:00.000Z",
    updated_at="2026-03-04T09:15:00.000Z",
    metadata={"source": "chat"},
)
EXPECTED = """[
  {
    "id": "mem_1",
    "memory": "Isst gern Käse 🧀",
    "user_id": "mira",
    "created_at": "2026-03-04T09:15:00.000Z",
    "updated_at": "2026-03-04T09:15:00.000Z",
    "metadata": {
      "source": "chat"
    }
  }
]
"""


def write(root: Path, records: list[Record], project: Project = DEMO) -> Path:
    file = ProjectFile(root, project)
    with file.hold_lock():
        file.replace(records, lambda stamp: None)
    return root / file.name


def place(root: Path, content: bytes) -> Path:
    folder = root / "demo" / ".etienne"
    folder.mkdir(parents=True)
    (folder / "memories.json").write_bytes(content)
    return folder / "memories.json"


def test_a_record_is_written_byte_for_byte_as_documented(tmp_path):
    assert write(tmp_path, [record_of(FACT)]).read_text("utf-8") == EXPECTED


def test_an_emptied_file_is_an_empty_array(tmp_path):
    assert write(tmp_path, []).read_bytes() == b"[]\n"


def test_a_message_carries_our_extras_and_reads_back_the_same(tmp_path):
    message = Memory(
        id=MemoryId("mem_2"),
        text="Hello",
        user="mira",
        created_at="2026-03-04T09:15:00.000Z",
        kind="message",
        agent="cook",
        app="kitchen",
        conversation="s-1",
        role="user",
        speaker="Mira",
        expires_on="2027-01-01",
        extra={"mood": "glad"},
    )
    record = decode(write(tmp_path, [record_of(message)]).read_bytes())[0]
    assert memory_of(record) == message
    assert list(record) == [
        *("id", "memory", "user_id", "created_at", "metadata"),
        *("agent_id", "app_id", "run_id", "kind", "role", "name", "expiration_date", "mood"),
    ]


def test_a_rewrite_keeps_unknown_members_odd_times_and_their_order():
    record = {"mood": 1, "id": "x", "memory": "a", "user_id": "u", "created_at": "last spring", "metadata": None}
    memory = present(memory_of(record | {"memory": "b", "updated_at": "2026-01-01T00:00:00.000Z"}))
    changed = rewritten(record, memory)
    assert changed == record | {"memory": "b", "updated_at": "2026-01-01T00:00:00.000Z"}
    assert list(changed)[:6] == list(record)


@pytest.mark.parametrize("record", [{}, {"id": 1, "memory": "a", "user_id": "u"}, {"id": "x", "memory": "a"}])
def test_an_object_without_id_text_or_owner_is_no_memory(record):
    assert memory_of(record) is None


@pytest.mark.parametrize("content", [b"", b"[]", b"[]\n", b"\xef\xbb\xbf[]", b"\xef\xbb\xbf"])
def test_empty_and_marked_files_read_as_no_memories(tmp_path, content):
    place(tmp_path, content)
    assert ProjectFile(tmp_path, DEMO).read().records == []


@pytest.mark.parametrize(
    "content",
    [b"{}", b"null", b"[1]", b'[{"id": "x"', b"[{}]]", b"\xff\xfe[]", b'[{"a": "\xff"}]', b"not json", b"\0" * 9],
)
def test_a_damaged_file_is_refused_by_name_and_left_as_it_is(tmp_path, content):
    path = place(tmp_path, content)
    with pytest.raises(StorageUnavailable, match=r"demo/\.etienne/memories\.json is damaged"):
        ProjectFile(tmp_path, DEMO).read()
    assert path.read_bytes() == content


def test_reading_creates_nothing(tmp_path):
    file = ProjectFile(tmp_path / "workspace", DEMO)
    assert (file.read().records, file.stamp()) == ([], None)
    assert list(tmp_path.iterdir()) == []


def test_what_is_made_is_private(tmp_path):
    root = tmp_path / "workspace"
    write(root, [])
    made = [root, *root.rglob("*")]
    modes = {path.relative_to(tmp_path).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in made}
    assert modes == {
        "workspace": 0o700,
        "workspace/demo": 0o700,
        "workspace/demo/.etienne": 0o700,
        "workspace/demo/.etienne/memories.json": 0o600,
        "workspace/demo/.etienne/memories.json.lock": 0o600,
    }


def test_the_stamp_told_before_the_rename_is_the_one_of_the_new_file_but_for_the_time_of_the_rename(tmp_path):
    file = ProjectFile(tmp_path, DEMO)
    told: list[Stamp] = []
    with file.hold_lock():
        written = file.replace([record_of(FACT)], told.append)
    assert written == file.stamp() == file.read().stamp
    assert [written.is_renamed(stamp) for stamp in told] == [True]


def test_a_value_that_json_cannot_hold_changes_nothing(tmp_path):
    path = write(tmp_path, [record_of(FACT)])
    with pytest.raises(InvalidRequest):
        write(tmp_path, [{"id": "x", "memory": "\ud800"}])
    assert path.read_text("utf-8") == EXPECTED


@pytest.mark.parametrize("big", [2**64, -(10**30), [[12345678901234567890123]]])
def test_integers_of_any_length_survive_a_rewrite(tmp_path, big):
    record = record_of(FACT) | {"big": big, "empty": {}, "list": [], "text": "a\0b\x7f\u2028"}
    assert decode(write(tmp_path, [record]).read_bytes()) == [record]


def test_the_slow_way_of_writing_gives_the_same_bytes(tmp_path):
    members = {"empty": {}, "list": [], "text": 'a\0b\x7f\u2028 "q" \\ /', "numbers": [1, -2.5, True, None]}
    records = [record_of(FACT) | members, {}]
    usual = encode(records)
    assert encode([*records, {"big": 2**70}]).startswith(usual[: usual.rindex(b"{}")])


def test_a_file_of_another_program_reads_and_writes_back_unchanged():
    assert encode(decode(EXPECTED.encode())) == EXPECTED.encode()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_is_named(tmp_path):
    path = write(tmp_path, [])
    path.parent.chmod(0o500)
    with pytest.raises(StorageUnavailable, match="Give the server's user the right"):
        write(tmp_path, [record_of(FACT)])
    path.parent.chmod(0o700)
    assert path.read_bytes() == b"[]\n"
