"""Exports in our own format lose nothing: a file that is imported elsewhere is exported as the same bytes."""

import io
import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.conversations import MemoryManager, Message
from mnemoir.conversations.transfer import export_all, export_session, import_sessions, write_export
from mnemoir.core.conversations import ROOT, MessageRecord
from mnemoir.core.errors import InvalidRequest, NotFound, StorageUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import behind_the_back
from tests.conversations.transfer_kit import all_of, exported, rich_session, texts, tree
from tests.narrowing import instance


@pytest.fixture
def here(tmp_path):
    with MemoryManager(tmp_path / "here.db") as manager:
        yield manager


@pytest.fixture
def there(tmp_path):
    with MemoryManager(tmp_path / "there" / "there.db") as manager:
        yield manager


def test_what_is_exported_imported_and_exported_again_is_the_same_bytes(here, there):
    here.create_session("", session_id="first, so that ids differ")
    here.save_messages("first, so that ids differ", [Message("user", "x")] * 3)
    rich_session(here)
    there.save_message("other", Message("user", "the ids of this store are further on"))
    file = exported(here)
    assert import_sessions(there, file).ids == ["trip"]
    assert exported(there) == file
    import_sessions(there, file, on_conflict="replace")
    assert exported(there) == file
    assert here.get_session("trip").updated_at == there.get_session("trip").updated_at


def test_a_session_in_one_json_object_is_imported_as_well(here, there):
    rich_session(here)
    import_sessions(there, exported(here, format="json"))
    assert exported(there) == exported(here)
    assert json.loads(exported(here, format="json"))["messages"] == [
        json.loads(line) for line in exported(here).splitlines()[1:]
    ]


def test_branches_the_head_and_the_mark_survive(here, there):
    ids = rich_session(here)
    import_sessions(there, exported(here))
    assert tree(there, "trip") == tree(here, "trip")
    assert there.load_session("trip") == here.load_session("trip")
    assert there.load_history("trip") == here.load_history("trip")
    assert len(there.load_session("trip")) == 5 < len(ids)


def test_the_first_line_is_the_session_and_each_other_one_a_message(here):
    here.create_session("Be brief.", {"title": "T", "user": "ann", "tags": ["a"], "n": 1}, "s")
    here.save_messages("s", [Message("user", "hi"), Message("assistant", "hello")])
    header, first, second = (json.loads(line) for line in exported(here, "s").splitlines())
    assert (header["format"], header["version"]) == ("mnemoir-conversation", 2)
    about = header["session"]
    assert (about["id"], about["title"], about["user"], about["system_prompt"]) == ("s", "T", "ann", "Be brief.")
    assert (about["tags"], about["custom"]) == (["a"], {"n": 1})
    assert datetime.fromisoformat(about["created_at"]).utcoffset() == timedelta(0)
    assert (first["id"], first["parent_id"], first["role"], first["content"]) == (1, None, "user", "hi")
    assert (second["id"], second["parent_id"], second["head"]) == (2, 1, True)
    assert first["turn_id"] == second["turn_id"]


def test_all_sessions_stand_after_each_other_newest_activity_first(here, there):
    for name in ("one", "two", "three"):
        here.save_message(name, Message("user", f"in {name}"))
    here.save_message("one", Message("user", "again"))
    file = all_of(here)
    headers = [json.loads(line)["session"]["id"] for line in file.splitlines() if b'"session":' in line]
    assert headers == ["one", "three", "two"]
    assert import_sessions(there, file).ids == headers
    assert all_of(there) == file


def test_a_session_deleted_while_all_are_exported_is_left_out(here):
    for name in ("one", "two"):
        here.save_messages(name, [Message("user", "words " * 20_000)] * 2)
    pieces = export_all(here)
    first = next(pieces)
    here.delete_session("one")
    assert b'"id":"two"' in first
    assert b'"id":"one"' not in b"".join(pieces)


def test_a_message_stored_after_its_children_is_exported_before_them(here, there):
    for minute in (1, 3, 4, 2):
        at = datetime(2026, 3, 4, 12, minute)
        here.storage.save_message(MessageRecord(session_id="s", role="user", content=str(minute), created_at=at))
    here.append_messages("s", [Message("user", "5")])
    assert texts(here) == ["1", "2", "3", "4", "5"]
    import_sessions(there, exported(here, "s"))
    assert texts(there) == texts(here)
    assert exported(there, "s") == exported(here, "s")


def test_rows_of_another_program_are_exported_too(here, there):
    here.save_messages("s", [Message("user", "one"), Message("assistant", "two"), Message("user", "three")])
    with behind_the_back(here.storage.db_path) as file:
        file.execute("UPDATE messages SET parent_id = NULL, digest = NULL, turn_id = NULL")
        file.execute("UPDATE messages SET role = 'narrator' WHERE content = 'two'")
        file.execute("""UPDATE sessions SET metadata = '{"custom": {"score": NaN}}'""")
    import_sessions(there, exported(here, "s"))
    assert texts(there) == ["one", "three"]
    assert there.get_session("s").metadata.custom == {"score": None}
    assert exported(there, "s") == exported(here, "s")


def test_an_export_is_made_while_it_is_read(here):
    here.save_messages("s", [Message("user", "words " * 5000)] * 40)
    pieces = export_session(here, "s")
    assert len(next(pieces)) < len(b"".join(pieces)) / 4


def test_an_unknown_session_and_an_unknown_format_are_refused(here):
    with pytest.raises(NotFound) as unknown:
        export_session(here, "nobody's")
    assert unknown.value.code == "conversation_not_found"
    here.create_session("", session_id="s")
    with pytest.raises(InvalidRequest, match="markdown"):
        export_session(here, "s", cast(Any, "html"))


def test_a_file_is_written_completely_or_not_at_all(here, tmp_path):
    rich_session(here)
    path = tmp_path / "trip.jsonl"
    assert write_export(export_session(here, "trip"), path) == path.stat().st_size
    assert path.read_bytes() == exported(here)
    assert path.stat().st_mode & 0o777 == 0o600
    opened = io.BytesIO()
    write_export(export_session(here, "trip"), opened)
    assert opened.getvalue() == path.read_bytes()

    def broken_off():
        yield b"the beginning"
        raise StorageUnavailable("the disk is gone")

    with pytest.raises(StorageUnavailable):
        write_export(broken_off(), path)
    assert path.read_bytes() == opened.getvalue()
    with pytest.raises(StorageUnavailable, match="nowhere"):
        write_export([b""], tmp_path / "nowhere" / "file")
    assert [file.name for file in tmp_path.glob(".trip*")] == []


ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
WORDS = st.text(max_size=12)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), ROLES, WORDS),
        st.tuples(st.just("branch"), st.integers(0, 30), WORDS),
        st.tuples(st.just("head"), st.integers(0, 30)),
        st.tuples(st.just("mark")),
        st.tuples(st.just("pin"), st.integers(0, 30)),
        st.tuples(st.just("early"), st.integers(0, 30), WORDS),
    ),
    max_size=15,
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(STEPS, WORDS)
def test_any_session_is_the_same_bytes_again(steps, title):
    with TemporaryDirectory() as folder, MemoryManager(Path(folder) / "a.db") as here:
        here.create_session(title, {"title": title, "kept": [title]}, "s")
        for step in steps:
            _take(here, step)
        file = exported(here, "s")
        with MemoryManager(Path(folder) / "b.db") as there:
            import_sessions(there, file)
            assert exported(there, "s") == file
            assert Counter(tree(there)) == Counter(tree(here))
            assert there.load_session("s") == here.load_session("s")
            assert import_sessions(there, file, on_conflict="merge").messages == 0


def _take(manager: MemoryManager, step: tuple) -> None:
    stored = manager.storage.message_tree("s", 100)
    ids = [each.id for each in stored]
    match step:
        case "say", role, text:
            manager.append_messages("s", [Message(role, text)])
        case "branch", at, text:
            manager.append_messages("s", [Message("user", text)], parent_id=[ROOT, *ids][at % (len(ids) + 1)])
        case "head", at if ids:
            manager.set_head("s", ids[at % len(ids)])
        case ("mark",):
            manager.clear_context("s")
        case "pin", at if ids:
            manager.pin_message(ids[at % len(ids)])
        case "early", at, text if ids:
            early = stored[at % len(ids)].created_at
            instance(MemoryStorage, manager.storage).save_message(
                MessageRecord(session_id="s", role="user", content=text, created_at=early)
            )
