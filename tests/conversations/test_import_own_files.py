"""Imports of our own files: all of a file or nothing, and never for another user."""

import io
import json
import sys
from pathlib import Path
from subprocess import run
from typing import Any, cast

import pytest

from mnemoir.conversations import MediaPart, MemoryManager, Message, TextPart
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.conversations.transfer.restoring import UNFINISHED
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.storage.objects.local import LocalObjects
from tests.conversations.search_kit import WordsClient, vector_ids
from tests.conversations.search_kit import manager as searching_manager
from tests.conversations.session_kit import behind_the_back
from tests.conversations.transfer_kit import HEADER, HELLO, all_of, exported, lines, rich_session, said, texts
from tests.narrowing import instance, present


@pytest.fixture
def store(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


def test_only_a_role_is_needed(store):
    report = import_sessions(store, lines({"role": "user", "content": "hi"}, {"role": "assistant"}))
    assert (report.sessions, report.ids, report.messages, report.skipped) == (1, ["s"], 2, [])
    assert store.load_session("s") == [Message("user", "hi"), Message("assistant", None)]
    without_id = json.dumps({**HEADER, "session": {}}).encode()
    assert import_sessions(store, without_id).ids != import_sessions(store, without_id).ids


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (b"{", "Line 3 is not valid JSON: .*column 2"),
        (b"[1]", "Line 3 must be an object, not a list"),
        (b'{"role":"user"', "Line 3 is not valid JSON"),
        (b'{"role":"\xff"}', "Line 3 is not UTF-8"),
        (b'{"content":"x"}', "Line 3: the member role must be one of"),
        (b'{"role":"narrator"}', "Line 3: the member role must be one of"),
        (b'{"role":"user","content":["x"]}', "Line 3: the member content must be a text, not a list"),
        (b'{"role":"user","id":3}', "Line 3 has the id 3, and it is message 2"),
        (b'{"role":"user","parent_id":2}', "Line 3: message 2 has the parent 2"),
        (b'{"role":"user","parent_id":7}', "Line 3: message 2 has the parent 7"),
        (b'{"role":"user","parent_id":0}', "Line 3: the member parent_id must be a whole number from 1"),
        (b'{"role":"user","parent_id":true}', "Line 3: the member parent_id must be a whole number"),
        (b'{"role":"user","importance":1.5}', "Line 3: the member importance must be a number from 0 to 1"),
        (b'{"role":"user","importance":NaN}', "Line 3: NaN is not a number in JSON"),
        (b'{"role":"user","pinned":"yes"}', "Line 3: the member pinned must be true or false"),
        (b'{"role":"user","created_at":"soon"}', "Line 3: the member created_at must be a time"),
        (b'{"role":"user","created_at":"1066-10-14T12:00:00Z"}', "between 1970 and 2200"),
        (b'{"role":"user","created_at":1e300}', "between 1970 and 2200"),
        (b'{"role":"user","tool_calls":[{"id":"c"}]}', "Line 3, tool_calls: the member arguments must be an object"),
        (b'{"role":"user","files":[{"type":"smell"}]}', "Line 3, files: the member type must be one of"),
        (b'{"role":"user","role":"user"}', "Line 3: a member is there twice"),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_stored(store, message, cause):
    whole = lines(said("user", "first session"), id="before")
    broken = lines(said("user", "hi")) + message + b"\n"
    with pytest.raises(InvalidImport, match=cause):
        import_sessions(store, broken)
    line = f"Line {3 + len(whole.splitlines())}"
    with pytest.raises(InvalidImport, match=line):
        import_sessions(store, whole + broken + whole.replace(b"before", b"behind"))
    assert store.list_sessions() == []


@pytest.mark.parametrize(
    ("file", "cause"),
    [
        (b'{"role":"user"}\n', "cannot be imported"),
        (lines()[:-30], "Line 1|not valid JSON"),
        (lines().replace(b'"version": 2', b'"version": 3'), "version 3 .*newer Mnemoir"),
        (lines().replace(b'"version": 2', b'"version": "x"'), "version must be a whole number"),
        (lines(id="\n"), "printable"),
        (lines(id="x" * 513), "1 to 512"),
        (lines(tags="work"), "Line 1, session: The member tags"),
        (lines(custom=[1]), "Line 1, session: The member custom"),
        (lines(created_at="0001-01-01T00:00:00Z"), "Line 1, session: the member created_at"),
        (lines(*HELLO) + b"{}\n" + lines(id="t"), "Line 4: the member role"),
        (b"", "cannot be imported"),
        (b"hello", "cannot be imported"),
        (b"\0" * 100, "cannot be imported"),
    ],
)
def test_a_file_that_is_none_of_ours_is_refused(store, file, cause):
    with pytest.raises(InvalidImport, match=cause):
        import_sessions(store, file)
    assert store.list_sessions() == []


def test_an_import_is_for_the_user_who_asks_whatever_the_file_says(store):
    file = lines(*HELLO, user="bob") + lines(id="t")
    import_sessions(store, file, user="ann")
    assert [session.metadata.user for session in store.list_sessions()] == ["ann", "ann"]
    import_sessions(store, file, user="ann", on_conflict="replace")
    assert [session.metadata.user for session in store.list_sessions()] == ["ann", "ann"]


def test_members_that_a_file_must_not_set_are_ignored(store):
    hostile = said("user", "x", session_id="other", embedding=[1.0], off_thread=1, head=True, seq=9, __class__="y")
    import_sessions(store, lines(hostile, is_admin=True))
    assert texts(store) == ["x"]
    assert store.get_session("other") is None


def test_no_message_becomes_older_than_the_one_it_follows(store):
    late, early = "2026-03-04T12:00:00Z", "2026-03-04T11:00:00+00:00"
    import_sessions(store, lines(said("user", "a", created_at=late), said("assistant", "b", created_at=early)))
    assert texts(store) == ["a", "b"]
    assert exported(store, "s").count(b"T12:00:00.000000Z") >= 2


def test_a_file_is_a_path_an_open_file_or_a_pipe(store, tmp_path):
    file = lines(*HELLO)
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\r\n" + file.replace(b"\n", b"\r\n\r\n"))
    assert import_sessions(store, path).messages == 2
    with path.open("rb") as opened:
        assert import_sessions(store, opened, on_conflict="rename").messages == 2

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *where) -> int:
            raise OSError("this is a pipe")

    assert import_sessions(store, Pipe(file), on_conflict="rename").ids == ["s-3"]
    with pytest.raises(StorageUnavailable, match="missing"):
        import_sessions(store, tmp_path / "missing")


def test_unknown_words_of_the_caller_are_refused(store):
    with pytest.raises(InvalidRequest, match="skip, rename"):
        import_sessions(store, lines(), on_conflict=cast(Any, "overwrite"))
    with pytest.raises(InvalidRequest, match="jsonl"):
        import_sessions(store, lines(), format=cast(Any, "xml"))
    with pytest.raises(InvalidImport):
        import_sessions(store, lines(*HELLO), format="json")


def test_written_sessions_are_deleted_when_the_store_fails(store):
    rich_session(store)
    import_sessions(store, lines(*HELLO, id="t"))
    before = all_of(store)
    with behind_the_back(store.storage.db_path) as file:
        file.execute(
            "CREATE TRIGGER full BEFORE INSERT ON messages WHEN NEW.content = 'one too many' "
            "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    last = lines(*HELLO, said("user", "one too many", parent_id=1), id="z")
    for on_conflict in ("skip", "replace", "rename"):
        with pytest.raises(StorageUnavailable, match="disk is full"):
            import_sessions(store, lines(*HELLO, id="t") + lines(*HELLO, id="y") + last, on_conflict=on_conflict)
        assert all_of(store) == before


KILLED = """
import io, os, signal, sys
from mnemoir.conversations import MemoryManager
from mnemoir.conversations.transfer import import_sessions

class Deadly(io.BytesIO):
    readings = 0
    def readline(self, *size):
        self.readings += self.tell() == 0
        line = super().readline(*size)
        if self.readings > 2 and b"the last" in line:
            os.kill(os.getpid(), signal.SIGKILL)
        return line

with MemoryManager(sys.argv[1]) as manager:
    import_sessions(manager, Deadly(open(sys.argv[2], "rb").read()), on_conflict=sys.argv[3])
"""


@pytest.mark.slow
@pytest.mark.parametrize("on_conflict", ["skip", "replace"])
def test_a_session_of_a_killed_import_is_marked_as_unfinished(tmp_path, on_conflict):
    path, file = tmp_path / "memory.db", tmp_path / "file.jsonl"
    branches = [said("user", "hi"), *(said("assistant", f"answer {at}", parent_id=1) for at in range(5))]
    file.write_bytes(lines(*branches, said("user", "the last")))
    if on_conflict == "replace":
        with MemoryManager(path) as store:
            store.save_message("s", Message("user", "what is replaced"))
    killed = run([sys.executable, "-c", KILLED, str(path), str(file), on_conflict], check=False)
    assert killed.returncode == -9
    with MemoryManager(path) as store:
        if on_conflict == "replace":
            assert texts(store) == ["what is replaced"]
        unfinished = [one for one in store.list_sessions() if UNFINISHED in one.metadata.custom]
        assert [one.metadata.custom[UNFINISHED] for one in unfinished] == ["s"]
        if on_conflict == "skip":
            [left_out] = import_sessions(store, file).skipped
            assert left_out.why == "unfinished"
        assert import_sessions(store, file, on_conflict="replace").messages == 7
        assert texts(store)[-1] == "the last"
        assert UNFINISHED not in present(store.get_session("s")).metadata.custom


def image_of(message: Message) -> MediaPart:
    return instance(MediaPart, instance(list, message.content)[0])


def attachments_in(folder: Path) -> Attachments:
    return Attachments(LocalObjects(folder))


def test_files_travel_with_their_messages(tmp_path):
    here, there = attachments_in(tmp_path / "here"), attachments_in(tmp_path / "there")
    picture = MediaPart(type="image", base64_data="iVBORw0KGgo=", filename="dot.png")
    with MemoryManager(tmp_path / "a.db") as store, MemoryManager(tmp_path / "b.db") as other:
        stored = here.put_away(Message("user", [picture, TextPart("look")]), "s")
        store.save_message("s", stored)
        file = exported(store, "s", attachments=here)
        assert b"iVBORw0KGgo=" in file
        assert b"mnemoir:attachments" not in file
        assert b"mnemoir:attachments" in exported(store, "s")
        import_sessions(other, file, attachments=there)
        import_sessions(other, file, attachments=there, on_conflict="replace")
        [message] = other.load_session("s")
        assert present(image_of(message).url).startswith("mnemoir:attachments/s/")
        [shown] = there.bring_back([message])
        assert (image_of(shown).base64_data, shown.text) == ("iVBORw0KGgo=", "look")
        assert exported(other, "s", attachments=there) == file
        assert import_sessions(other, file, attachments=there, on_conflict="merge").messages == 0
        assert there.delete("s") == 1
        assert list(LocalObjects(tmp_path / "there").scan("")) == []


async def test_imported_messages_get_their_vectors_later(tmp_path):
    with searching_manager(tmp_path, WordsClient()) as store:
        import_sessions(store, lines(said("user", "a harbour"), said("assistant", "a hill"), said("system", "kind")))
        assert sum(store.storage.vector_counts().values()) == 2
        await store.abackfill_embeddings()
        assert store.storage.vector_counts() == {"embedded": 2}
        assert [message.text for message in await store.search_similar("harbour", 1)] == ["a harbour"]
        import_sessions(store, lines(said("user", "a lake")), on_conflict="replace")
        await store.abackfill_embeddings()
        assert len(vector_ids(store)) == 1
