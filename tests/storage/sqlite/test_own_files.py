"""Files of one owner, encrypted: a moved cell is refused, and an upkeep that ends anywhere loses nothing."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import apsw
import numpy as np
import pytest

from mnemoir.conversations.search.vectors import TokenPart
from mnemoir.core.conversations import SessionMetadata, Summary
from mnemoir.core.errors import KeyUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.conversations.vector_file import VectorFileStore
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.sealed import SealedObjects
from mnemoir.storage.sealing.cells import Cells, OwnCells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.own_files import bring_file_up_to_date
from mnemoir.storage.sql.engine import FileEngine, Sql
from mnemoir.storage.sql.tables import SESSION_FILE, VECTOR_FILE
from mnemoir.storage.sqlite.conversation_file import open_conversation_file
from mnemoir.storage.sqlite.opening import open_vector_file
from tests.conversations.session_kit import said, texts
from tests.narrowing import instance
from tests.storage.sealing_kit import cells_in

MIRA, OMAR = ("default", "default", "mira"), ("default", "default", "omar")
T = TypeVar("T")


@pytest.fixture
def cells(tmp_path) -> Iterator[Cells]:
    made = cells_in(tmp_path / "keys")
    yield made
    instance(KeyRing, made.keys).close()


def own(cells: Cells, owner: tuple[str, str, str] = MIRA, *, seals: bool = True) -> OwnCells:
    return OwnCells(Cells(cells.keys, seals=seals), owner)


def talk(path: Path, cells: OwnCells | None) -> None:
    """Two answers to one question, a tool call, a file and a summary; a copy of one branch; a message of its own."""
    with MemoryStorage(path, cells=cells) as storage:
        storage.create_session("s", "be kind", SessionMetadata(title="Tea", user="mira"))
        [question] = storage.append_messages("s", [said("Tea?", name="Mira", files='[{"type": "image"}]')])
        calls = '[{"id": "c", "name": "look", "arguments": {"at": 1}}]'
        storage.append_messages("s", [said("Green.", role="assistant", tool_calls=calls)])
        storage.append_messages("s", [said("Black.", role="assistant"), said("Milk?")], parent_id=question)
        claim = storage.claim_summary("s", 60) or ""
        summary = Summary(upto_message_id=question, text="On tea", token_count=2, model="m", created_at=None)
        assert storage.put_summary("s", claim, summary)
        storage.branch_session("s", 2, "copy", SessionMetadata(title="Copied"))


def everything(path: Path, cells: OwnCells | None) -> list[object]:
    with MemoryStorage(path, cells=cells) as storage:
        history = [said("Tea?", files='[{"type": "image"}]'), said("Black.", role="assistant")]
        session = storage.get_session("s")
        return [
            [stored for name in ("s", "copy") for stored in storage.message_tree(name, 9)],
            [(one.id, one.system_prompt, one.metadata) for one in storage.list_sessions()],
            session and session.head,
            storage.get_summary("s"),
            [found for found, _ in storage.session_notes("mira")],
            storage.thread_stretches("s", [], [], 0.5),
            storage.damaged_messages("s"),
            storage.session_of_history(history),
            storage.said_after(0, 9),
        ]


def without_names(found: list[Any]) -> object:
    """The same without what differs in any two files: uids, turns and times."""
    messages = [(one.session_id, one.message, one.parent_id, one.is_on_thread) for one in found[0]]
    return [messages, *found[1:3], found[4:8]]


def test_an_encrypted_file_reads_as_a_plain_one_and_has_no_word_in_any_byte(tmp_path, cells):
    paths = [tmp_path / name / "s.db" for name in ("plain", "sealed")]
    for path, used in zip(paths, (None, own(cells)), strict=True):
        talk(path, used)
    plain, sealed = (everything(path, used) for path, used in zip(paths, (None, own(cells)), strict=True))
    assert without_names(plain) == without_names(sealed)
    stored = [b"".join(file.read_bytes() for file in path.parent.iterdir()) for path in paths]
    words = [b"Tea", b"Green.", b"Milk?", b"be kind", b"On tea", b"look", b"image", b"Mira", b"mira"]
    assert [[word in each for word in words] for each in stored] == [[True] * 9, [False] * 9]


@pytest.mark.parametrize(
    "swap",
    [
        "UPDATE messages SET content = (SELECT content FROM messages WHERE id = 3) WHERE id = 1",
        "UPDATE messages SET content = files WHERE id = 1",
        "UPDATE messages SET uid = 'msg_x' WHERE id = 1",
        "UPDATE messages SET content = (SELECT text FROM summaries) WHERE id = 1",
    ],
)
def test_a_message_that_was_moved_is_refused(tmp_path, cells, swap):
    path = tmp_path / "s.db"
    talk(path, own(cells))
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(swap)
    with MemoryStorage(path, cells=own(cells)) as storage, pytest.raises(KeyUnavailable, match="does not open"):
        texts(storage)
    assert [file.name for file in tmp_path.glob("*corrupt*")] == []


def test_nothing_of_another_user_is_taken_for_ones_own(tmp_path, cells):
    talk(tmp_path / "s.db", own(cells))
    with (
        MemoryStorage(tmp_path / "s.db", cells=own(cells, OMAR)) as storage,
        pytest.raises(KeyUnavailable, match="does not open"),
    ):
        texts(storage)
    objects = SealedObjects(LocalObjects(tmp_path / "o"), own(cells))
    objects.save("a/b", b"tea")
    for moved, key in ((own(cells, OMAR), "a/b"), (own(cells), "a/c")):
        LocalObjects(tmp_path / "o").save("a/c", LocalObjects(tmp_path / "o").load_once("a/b"))
        with pytest.raises(KeyUnavailable, match="does not open"):
            SealedObjects(LocalObjects(tmp_path / "o"), moved).load_once(key)
    assert objects.load_once("a/b") == b"tea"


class Stopped(Exception):
    """The program ends here."""


class StoppedAfter:
    """A file whose writes end after some."""

    def __init__(self, file: FileEngine, writes: int) -> None:
        self._file = file
        self._left = writes
        self.name = file.name
        self.read = file.read
        self.empty_log = file.empty_log

    def write(self, work: Callable[[Sql], T]) -> T:
        if not self._left:
            raise Stopped
        self._left -= 1
        return self._file.write(work)

    def close(self) -> None:
        self._file.close()


@pytest.mark.parametrize("seals", [True, False])
def test_an_upkeep_that_ends_anywhere_leaves_all_readable_and_is_done_again(tmp_path, cells, seals):
    path = tmp_path / "s.db"
    talk(path, None if seals else own(cells))
    before = everything(path, None if seals else own(cells))
    for writes in range(99):
        with closing(
            open_conversation_file(path, synced=True, on_corruption="raise", cells=own(cells, seals=seals))
        ) as file:
            try:
                bring_file_up_to_date(StoppedAfter(file, writes), SESSION_FILE, own(cells, seals=seals))
            except Stopped:
                assert everything(path, own(cells, seals=seals)) == before
            else:
                break
    assert writes > 4
    assert everything(path, own(cells, seals=seals) if seals else None) == before


@pytest.mark.parametrize("reads", [0, 1, 2])
def test_a_history_is_known_while_an_upkeep_makes_its_digests_anew(tmp_path, cells, reads, monkeypatch):
    path, history = tmp_path / "s.db", [said("Tea?", files='[{"type": "image"}]'), said("Black.", role="assistant")]
    talk(path, own(cells))
    with (
        MemoryStorage(path, cells=own(cells)) as storage,
        closing(open_conversation_file(path, synced=True, on_corruption="raise", cells=own(cells))) as file,
    ):
        seen, read = 0, storage._file.read

        def overtaken(work):
            nonlocal seen
            if seen == reads:
                cells.keys.rotate(MIRA)
                with pytest.raises(Stopped):
                    bring_file_up_to_date(StoppedAfter(file, 1), SESSION_FILE, own(cells))
            seen += 1
            return read(work)

        monkeypatch.setattr(storage._file, "read", overtaken)
        assert storage.session_of_history(history) == "s"


def test_vectors_are_encrypted_rotated_and_plain_again_with_those_of_the_second_model(tmp_path, cells):
    rng = np.random.default_rng(1)
    with closing(VectorFileStore("v", tmp_path)) as store:
        vectors = rng.normal(size=(9, 8)).astype(np.float32)
        names = [f"n{number}" for number in range(9)]
        part = {"n1": TokenPart(token_ids=b"tokens of n1", token_codes=b"codes of n1")}
        store.add_with_tokens(
            names, vectors, [f"text {name}" for name in names], [{"of": name} for name in names], part
        )
        store.store_second_vectors(store.unseen("second", 99), {"n2": vectors[2]})
        before = found_in(store, vectors)
    path = store.path
    assert path is not None
    for used in (own(cells), own(cells), own(cells, seals=False)):
        if used.cells.seals:
            instance(KeyRing, cells.keys).rotate(MIRA)
        with closing(open_vector_file(path, "raise", used)) as file:
            assert bring_file_up_to_date(file, VECTOR_FILE, used)
            assert not bring_file_up_to_date(file, VECTOR_FILE, used)
        stored = b"".join(each.read_bytes() for each in tmp_path.glob("v.*"))
        assert (b"text n" in stored, b"codes of" in stored) == (not used.cells.seals,) * 2
        with closing(VectorFileStore("v", tmp_path, cells=used)) as store:
            assert found_in(store, vectors) == before
    with closing(VectorFileStore("v", tmp_path)) as store:
        assert found_in(store, vectors) == before


def found_in(store: VectorFileStore, vectors: np.ndarray) -> list[object]:
    ids = store.get()[0]
    stored = store.vectors_of(ids)
    return [store.get(), store.search(vectors[3], 5), stored, store.token_codes(ids), store.unseen("second", 9).texts]


def test_a_changed_vector_keeps_what_was_not_changed(tmp_path, cells):
    with closing(VectorFileStore("v", tmp_path, cells=own(cells))) as store:
        store.add(["a"], [[1.0, 0.0]], ["tea"], [{"by": "mira"}])
        store.update(["a"], metadata=[{"at": 3}])
        store.update(["a"], documents=["green tea"])
        assert store.search([1.0, 0.0]) == (["a"], ["green tea"], [{"by": "mira", "at": 3}], [0.0])
