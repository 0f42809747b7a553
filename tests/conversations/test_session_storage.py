"""Sessions and messages are stored, listed, paged and deleted as documented."""

import sqlite3
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from mnemoir.conversations.log.message_rows import record_of
from mnemoir.core.conversations import (
    MediaPart,
    Message,
    SessionExistsError,
    SessionMetadata,
    Summary,
    TextPart,
    ToolCall,
    metadata_of,
)
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import NOON, Hands, all_bytes, behind_the_back, said, texts

NAIVE_NOON = NOON.replace(tzinfo=None)


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def storage(tmp_path, clock):
    with MemoryStorage(tmp_path / "data" / "memory.db", clock=clock) as opened:
        yield opened


def test_a_session_is_there_with_all_it_was_made_with(storage):
    about = SessionMetadata(user="mira", tags=["a", "b"], title="Trip", custom={"agent": "planner"})
    created = storage.create_session("s", "be kind", about)
    assert storage.get_session("s") == created
    assert (created.created_at, created.updated_at) == (NAIVE_NOON, NAIVE_NOON)
    assert (created.system_prompt, created.metadata) == ("be kind", about)
    assert created["id"] == dict(created)["id"] == "s"
    assert list(created.keys())[:4] == ["id", "created_at", "updated_at", "system_prompt"]
    with pytest.raises(KeyError):
        created["keys"]


def test_an_id_that_is_taken_is_an_error_and_changes_nothing(storage):
    storage.create_session("s", "first")
    with pytest.raises(SessionExistsError, match="There is a session 's' already"):
        storage.create_session("s", "second")
    assert storage.get_session("s").system_prompt == "first"


@pytest.mark.parametrize("session_id", ["", "a\0b", "half \ud800", "line\nbreak", "x" * 513, "猫" * 342, None, 7])
def test_an_id_that_is_none_is_refused(storage, session_id):
    with pytest.raises(InvalidRequest, match="A session's id"):
        storage.create_session(session_id, "")


def test_metadata_of_a_mapping_keep_unknown_keys_in_custom():
    found = metadata_of({"user": "mira", "tags": ("x",), "project": "p", "custom": {"keep": True}})
    assert found == SessionMetadata(user="mira", tags=["x"], custom={"keep": True, "project": "p"})
    assert metadata_of(None) == SessionMetadata()


@pytest.mark.parametrize("given", [{"user": 7}, {"title": []}, {"tags": "abc"}, {"tags": [1]}, {"custom": [1]}])
def test_metadata_of_other_types_are_refused(given):
    with pytest.raises(InvalidRequest, match=f"The member {next(iter(given))} "):
        metadata_of(given)


def test_metadata_that_json_cannot_say_are_refused(storage):
    with pytest.raises(InvalidRequest, match="must be JSON"):
        storage.create_session("s", "", SessionMetadata(custom={"at": NOON}))
    assert storage.get_session("s") is None


def test_metadata_can_be_replaced_without_it_being_activity(storage, clock):
    storage.create_session("s", "")
    clock.turn(hours=1)
    assert storage.update_metadata("s", SessionMetadata(title="new"))
    assert not storage.update_metadata("unknown", SessionMetadata())
    assert (storage.get_session("s").metadata.title, storage.get_session("s").updated_at) == ("new", NAIVE_NOON)


CALL = ToolCall("c1", "look", {"at": "日本", "deep": {"n": [1, None, 1.5]}})
PICTURE = MediaPart(type="image", mime_type="image/png", base64_data="QUJD", detail="high", tokens=9)
MESSAGES = [
    Message("system", "be kind"),
    Message("user", "nul \0, quote ' and 😀"),
    Message("user", ""),
    Message("assistant", None, tool_calls=[CALL, ToolCall("c2", "wait")]),
    Message("tool", "found", tool_call_id="c1", name="look"),
    Message("user", [PICTURE, TextPart("what is it?")]),
    Message("user", [PICTURE]),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.role)
def test_a_message_comes_back_as_it_was(storage, message):
    storage.save_message(record_of("s", message))
    assert storage.load_messages("s") == [message]


def test_half_of_a_surrogate_pair_costs_one_character_and_not_the_message(storage):
    storage.save_message(said("broken \ud83d emoji"))
    assert texts(storage) == ["broken ? emoji"]


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (Message(cast(Any, "narrator"), "x"), "one of the roles"),
        (Message("assistant", None, tool_calls=[ToolCall("c", "n", {"at": NOON})]), "must be JSON"),
    ],
)
def test_a_message_that_no_row_can_hold_is_refused(message, cause):
    with pytest.raises(InvalidRequest, match=cause):
        record_of("s", message)


def test_saving_to_an_unknown_session_creates_it(storage):
    storage.save_messages([said("hi")], system_prompt="be kind")
    assert storage.get_session("s").system_prompt == "be kind"
    storage.save_messages([said("again")], system_prompt="be rude")
    assert storage.get_session("s").system_prompt == "be kind"


def test_the_beginnings_of_many_threads_are_read_at_once(storage, monkeypatch):
    storage.save_messages([said("one"), said("two"), said("three")])
    storage.save_messages([said("four", "t")])
    reads: list[object] = []
    read = type(storage._file).read

    def noted(*given):
        reads.append(given)
        return read(*given)

    monkeypatch.setattr(type(storage._file), "read", noted)
    found = storage.beginnings(["t", "s", "none"], 2)
    told = {id: (count, [message.text for message in first]) for id, (count, first) in found.items()}
    assert told == {"t": (1, ["four"]), "s": (3, ["one", "two"]), "none": (0, [])}
    assert len(reads) == 1


def test_reading_of_an_unknown_session_creates_nothing(storage):
    assert storage.load_messages("s") == []
    assert storage.get_message_count("s") == 0
    assert storage.newest_messages("s", 10) == []
    assert storage.clear_messages("s") == 0
    assert storage.mark_context("s") is None
    storage.update_session_activity("s")
    assert (storage.get_session("s"), storage.list_sessions()) == (None, [])
    assert not storage.delete_session("s")


def test_a_batch_is_saved_whole_or_not_at_all(storage):
    with pytest.raises(InvalidRequest):
        storage.save_messages([said("one"), said("two"), said("three", session_id="")])
    assert storage.list_sessions() == []
    ids = storage.save_messages([said("one"), said("two", session_id="t")])
    assert (texts(storage), texts(storage, "t"), ids) == (["one"], ["two"], sorted(ids))
    assert storage.save_messages([]) == []


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ({}, "01234"),
        ({"limit": 2}, "01"),
        ({"limit": 2, "offset": 3}, "34"),
        ({"offset": 3}, "34"),
        ({"limit": 0}, ""),
        ({"limit": -1}, ""),
        ({"limit": 10**30, "offset": -5}, "01234"),
        ({"offset": 10**30}, ""),
    ],
)
def test_messages_are_paged_from_the_oldest(storage, page, found):
    storage.save_messages([said(str(number)) for number in range(5)])
    assert "".join(texts(storage, **page)) == found


def test_a_clock_that_is_set_back_reorders_nothing(storage, clock):
    for text in ("one", "two", "three"):
        storage.save_message(said(text))
        clock.turn(hours=-1)
    assert texts(storage) == ["one", "two", "three"]
    assert [stored.created_at for stored in storage.newest_messages("s", 9)] == [NAIVE_NOON] * 3
    assert storage.get_session("s").updated_at == NAIVE_NOON


def test_a_time_that_is_given_decides_the_place(storage):
    storage.save_message(said("now"))
    storage.save_message(said("then", created_at=NOON - timedelta(days=1)))
    assert texts(storage) == ["then", "now"]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    minutes=st.lists(st.integers(0, 4), max_size=12),
    marked=st.integers(0, 12),
    size=st.integers(1, 5),
)
def test_pages_from_either_end_hold_every_message_behind_the_mark_once(tmp_path_factory, minutes, marked, size):
    with MemoryStorage(tmp_path_factory.mktemp("pages") / "m.db") as storage:
        times = [NOON + timedelta(minutes=minute) for minute in minutes]
        before = [said(str(at), created_at=time) for at, time in enumerate(times[:marked])]
        storage.save_messages(before)
        mark = storage.mark_context("s")
        ids = storage.save_messages([said("x", created_at=time) for time in times[marked:]])
        placed = sorted(zip(times[marked:], ids, strict=True))
        bar = max(((time, at + 1) for at, time in enumerate(times[:marked])), default=None)
        expected = [one[1] for one in placed if bar is None or one > bar]
        assert (mark is None) == (bar is None)
        assert _newest_first(storage, size)[::-1] == expected == _oldest_first(storage, size)
        middle = expected[len(expected) // 3 :][:3]
        if len(middle) == 3:
            between = storage.messages_between("s", middle[0], middle[2], 9)
            assert [stored.id for stored in between] == middle[1:2]


def _newest_first(storage: MemoryStorage, size: int) -> list[int]:
    ids: list[int] = []
    while page := storage.newest_messages("s", size, before=ids[-1] if ids else None):
        ids += [stored.id for stored in page]
    return ids


def _oldest_first(storage: MemoryStorage, size: int) -> list[int]:
    ids: list[int] = []
    while page := storage.messages_between("s", ids[-1] if ids else None, None, size):
        ids += [stored.id for stored in page]
    return ids


def test_paging_ends_when_the_messages_are_deleted_meanwhile(storage):
    storage.save_messages([said("x") for _ in range(4)])
    page = storage.newest_messages("s", 2)
    storage.clear_messages("s")
    storage.save_message(said("later"))
    assert storage.newest_messages("s", 2, before=page[-1].id) == []


def test_sessions_are_listed_newest_activity_first(storage, clock):
    for name in "abc":
        clock.turn(minutes=1)
        storage.create_session(name, "")
    clock.turn(minutes=1)
    storage.save_message(said("hi", session_id="a"))
    clock.turn(minutes=1)
    storage.update_session_activity("b")
    assert [session.id for session in storage.list_sessions()] == ["b", "a", "c"]
    assert [session.id for session in storage.list_sessions(limit=1, offset=1)] == ["a"]
    assert storage.list_sessions(limit=0) == storage.list_sessions(limit=-3) == []
    assert len(storage.list_sessions(limit=10**30, offset=-1)) == 3


def test_a_deleted_session_leaves_no_row_and_no_byte(storage, tmp_path):
    storage.create_session("s", "keep the MAGICWORD", SessionMetadata(title="MAGICWORD"))
    storage.save_messages([said(f"MAGICWORD {number} " * 200) for number in range(20)])
    claim = storage.claim_summary("s", 60)
    last = storage.newest_messages("s", 1)[0].id
    assert storage.put_summary("s", claim, Summary(upto_message_id=last, text="MAGICWORD", token_count=1, model="m"))
    storage.save_message(said("other", session_id="t"))
    assert b"MAGICWORD" in all_bytes(tmp_path / "data")
    assert storage.delete_session("s")
    assert not storage.delete_session("s")
    assert b"MAGICWORD" not in all_bytes(tmp_path / "data")
    assert (texts(storage), texts(storage, "t")) == ([], ["other"])
    with behind_the_back(storage.db_path) as file:
        assert file.execute("SELECT count(*) FROM messages").get == 1
        assert file.execute("SELECT count(*) FROM summaries").get == 0


def test_ids_of_deleted_messages_are_never_given_again(storage):
    first = storage.save_message(said("one"))
    storage.delete_session("s")
    assert storage.save_message(said("two")) > first


def test_a_cleared_session_stays_without_messages_summary_and_mark(storage):
    storage.save_messages([said("one"), said("two")])
    claim = storage.claim_summary("s", 60)
    storage.mark_context("s")
    assert storage.clear_messages("s") == 2
    session = storage.get_session("s")
    assert (session.context_after, storage.get_summary("s")) == (None, None)
    assert not storage.put_summary("s", claim, Summary(upto_message_id=2, text="x", token_count=1, model="m"))
    storage.save_message(said("three"))
    assert texts(storage) == ["three"]


def test_pruning_takes_what_is_older_and_not_kept(storage, clock):
    storage.create_session("kept", "", SessionMetadata(custom={"keep": True}))
    storage.create_session("old", "")
    clock.turn(seconds=1)
    storage.create_session("border", "")
    clock.turn(days=30)
    storage.save_message(said("hi", session_id="new"))
    assert storage.old_sessions(30) == ["old"]
    assert storage.prune_old_sessions(30) == 1
    assert storage.prune_old_sessions(30) == 0
    clock.turn(microseconds=1)
    assert storage.prune_old_sessions(0) == 2
    assert [session.id for session in storage.list_sessions()] == ["kept"]


def test_pruning_goes_through_more_than_one_batch(storage, clock):
    with behind_the_back(storage.db_path) as file:
        rows = [(f"s{number}", '{"custom": {"keep": 1}}' if number % 3 == 0 else "{}") for number in range(1800)]
        file.execute("BEGIN")
        file.executemany(
            "INSERT INTO sessions VALUES (?1, '2020-01-01T00:00:00', '2020-01-01T00:00:00', '', ?2, "
            "NULL, NULL, NULL, NULL, 1)",
            rows,
        )
        file.execute("COMMIT")
    assert len(storage.old_sessions(30)) == 1200
    assert storage.prune_old_sessions(30) == 1200
    assert len(storage.list_sessions(limit=2000)) == 600


@pytest.mark.parametrize("days", [-1, -(10**9)])
def test_pruning_the_future_is_refused(storage, days):
    storage.create_session("s", "")
    for ask in (storage.prune_old_sessions, storage.old_sessions):
        with pytest.raises(ValueError, match="days must be 0 or more"):
            ask(days)
    assert storage.get_session("s") is not None


@pytest.mark.parametrize("days", [750_000, 10**12])
def test_pruning_what_is_older_than_any_calendar_finds_nothing(storage, days):
    storage.create_session("s", "")
    assert storage.prune_old_sessions(days) == 0


def test_pins_and_scores_find_the_important_messages(storage):
    ids = storage.save_messages([said(str(number)) for number in range(5)])
    assert storage.set_pinned(ids[3], True)
    assert not storage.set_pinned(999, True)
    storage.set_importance({ids[0]: 0.6, ids[1]: 0.59, 999: 1.0})
    assert [stored.id for stored in storage.important_messages("s", 0.6)] == [ids[0], ids[3]]
    assert [stored.id for stored in storage.unscored_messages("s", 9)] == ids[2:]
    assert storage.messages_by_id([ids[3], 999])[ids[3]].pinned
    storage.set_pinned(ids[3], False)
    storage.set_importance({ids[0]: None})
    assert storage.important_messages("s", 0.6) == []
    with pytest.raises(InvalidRequest, match="0 to 1"):
        storage.set_importance({ids[0]: 1.5})


def summary(upto: int, text: str = "short") -> Summary:
    return Summary(upto_message_id=upto, text=text, token_count=2, model="m", created_at=NAIVE_NOON)


def test_one_loader_at_a_time_makes_the_summary(storage, clock):
    ids = storage.save_messages([said("one"), said("two")])
    claim = storage.claim_summary("s", 60)
    assert storage.claim_summary("s", 60) is None
    assert storage.put_summary("s", claim, summary(ids[0]))
    assert storage.get_summary("s") == summary(ids[0])
    late = storage.claim_summary("s", 60)
    clock.turn(seconds=61)
    next_one = storage.claim_summary("s", 60)
    assert next_one is not None
    assert not storage.put_summary("s", late, summary(ids[1], "late"))
    storage.release_summary("s", late)
    assert storage.claim_summary("s", 60) is None
    storage.release_summary("s", next_one)
    assert storage.claim_summary("s", 60) is not None
    assert storage.get_summary("s") == summary(ids[0])


def test_a_mark_ends_every_summary_before_it(storage):
    ids = storage.save_messages([said("one"), said("two")])
    storage.put_summary("s", storage.claim_summary("s", 60), summary(ids[0]))
    under_way = storage.claim_summary("s", 60)
    assert storage.mark_context("s") == ids[1]
    assert storage.get_summary("s") is None
    assert not storage.put_summary("s", under_way, summary(ids[1]))
    later = storage.save_message(said("three"))
    assert storage.put_summary("s", storage.claim_summary("s", 60), summary(later))
    assert storage.get_summary("s") == summary(later)


def test_a_summary_of_another_sessions_message_is_not_stored(storage):
    other = storage.save_message(said("one", session_id="t"))
    storage.create_session("s", "")
    assert not storage.put_summary("s", storage.claim_summary("s", 60), summary(other))
    assert storage.claim_summary("unknown", 60) is None


def test_vectors_are_noted_before_they_are_made_and_until_they_are_gone(storage):
    embedded = [said("one"), said("two", role="tool")]
    ids = storage.save_messages([*embedded, said("x", role="system"), said(" \u00a0\n")], embedding_model="m")
    assert storage.vector_counts() == {"pending": 2}
    assert [stored.id for stored in storage.unembedded_messages("m", 9)] == ids[:2]
    assert storage.note_new_vectors(ids[:1], "m") == []
    storage.note_failed_vectors(ids[1:2])
    assert storage.vector_counts() == {"embedded": 1, "failed": 1}
    assert [stored.id for stored in storage.unembedded_messages("m", 9)] == ids[1:2]
    assert [stored.id for stored in storage.unembedded_messages("other", 9)] == ids[:2]
    assert storage.unembedded_messages("m", 9, after=ids[1]) == []
    assert storage.unembedded_messages("m", 9, session_id="t") == []
    storage.delete_session("s")
    assert storage.vectors_to_remove(9) == ids[:2]
    assert storage.note_new_vectors(ids[:2], "m") == ids[:2]
    assert storage.await_vectors(ids[:2], "m") == []
    storage.note_removed_vectors(ids[:1])
    assert storage.vectors_to_remove(9) == ids[1:2]


def test_messages_saved_without_an_embedder_can_be_noted_later(storage):
    ids = storage.save_messages([said("one"), said("two")])
    assert storage.await_vectors([*ids, 999], "m") == ids
    assert storage.note_new_vectors([*ids, 999], "m") == [999]
    storage.clear_messages("s")
    assert storage.vectors_to_remove(1) == ids[:1]


DAMAGES = [
    ("UPDATE messages SET tool_calls = '[{' WHERE id = 1", ["one", "two"]),
    ("UPDATE messages SET tool_calls = '[{\"id\": 1}]' WHERE id = 1", ["one", "two"]),
    ('UPDATE messages SET files = \'[{"type": "nose"}]\' WHERE id = 1', ["one", "two"]),
    ("UPDATE messages SET role = 'narrator' WHERE id = 1", ["two"]),
    ("UPDATE messages SET role = CAST(x'ff' AS TEXT) WHERE id = 1", ["two"]),
]


@pytest.mark.parametrize(("damage", "left"), DAMAGES)
def test_a_damaged_row_costs_itself_and_is_named_in_the_log(storage, damage, left):
    storage.save_messages([said("one"), said("two")])
    with behind_the_back(storage.db_path) as file:
        file.execute(damage)
    with capture_logs() as logs:
        assert texts(storage) == left
        assert [stored.message.text for stored in storage.newest_messages("s", 9)] == left[::-1]
    assert {(line["log_level"], line["message_id"]) for line in logs} == {("warning", 1)}
    assert "one" not in str(logs)


def test_a_text_that_is_not_utf8_loses_its_bad_bytes_only(storage):
    storage.save_messages([said("one"), said("two")])
    with behind_the_back(storage.db_path) as file:
        file.execute("UPDATE messages SET content = CAST(x'6fff65' AS TEXT), created_at = 'soon' WHERE id = 1")
    assert sorted(texts(storage)) == ["o\ufffde", "two"]
    assert storage.messages_by_id([1])[1].created_at is None
    storage.save_message(said("three"))
    assert storage.get_message_count("s") == 3


def test_pages_go_on_behind_damaged_rows(storage):
    storage.save_messages([said(str(number)) for number in range(6)])
    with behind_the_back(storage.db_path) as file:
        file.execute("UPDATE messages SET role = '?' WHERE id IN (3, 4)")
    assert _newest_first(storage, 2) == [6, 5, 2, 1]
    assert _oldest_first(storage, 2) == [1, 2, 5, 6]
    assert [one.id for one in storage.newest_messages("s", 3)] == [6, 5, 2]
    assert [one.id for one in storage.messages_between("s", None, None, 3)] == [1, 2, 5]


@pytest.mark.parametrize("metadata", ["", "{", "[1]", '{"tags": 7}', "null", "[" * 100_000])
def test_damaged_metadata_are_empty_and_fail_no_listing(storage, metadata):
    storage.create_session("a", "", SessionMetadata(title="x"))
    storage.create_session("b", "", SessionMetadata(title="y"))
    with behind_the_back(storage.db_path) as file:
        file.execute("UPDATE sessions SET metadata = ?, created_at = 'never' WHERE id = 'a'", (metadata,))
    found = {session.id: session.metadata.title for session in storage.list_sessions()}
    assert found == {"a": None, "b": "y"}
    assert storage.get_session("a").created_at == datetime(1970, 1, 1)
    assert storage.prune_old_sessions(0) == 0


def test_a_closed_store_says_so(tmp_path):
    storage = MemoryStorage(tmp_path / "m.db")
    storage.close()
    storage.close()
    with pytest.raises(StorageUnavailable, match=r"m\.db was closed by this program"):
        storage.get_session("s")
    assert [file.name for file in tmp_path.iterdir()] == ["m.db"]


def test_the_home_folder_is_meant_by_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with MemoryStorage("~/deep/er/m.db") as storage:
        assert storage.db_path == tmp_path / "deep" / "er" / "m.db"
    assert (tmp_path / "deep" / "er" / "m.db").stat().st_mode & 0o777 == 0o600


def test_the_file_is_readable_for_any_program(storage):
    """With Python's own driver, as a script would."""
    storage.save_message(said("hi"))
    with sqlite3.connect(storage.db_path) as file:
        found = file.execute("SELECT role, content, created_at FROM messages").fetchall()
        about = file.execute("SELECT metadata FROM sessions").fetchall()
        mode = file.execute("PRAGMA journal_mode").fetchall()
    file.close()
    assert found == [("user", "hi", "2026-03-04T12:00:00.000000")]
    assert about == [('{"user": null, "tags": [], "title": null, "custom": {}}',)]
    assert mode == [("wal",)]
