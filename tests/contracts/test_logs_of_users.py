"""The logs of several users apart, encrypted or not, and what becomes of them with their users."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from mnemoir.core.conversations import MessageNotFoundError, SessionMetadata
from mnemoir.core.errors import Conflict
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.resealing import reseal_scope, scopes_after
from mnemoir.storage.sql.adoptions import Adoptions, BegunAdoption
from mnemoir.storage.sql.conversations.all_logs import AllLogs
from mnemoir.storage.sql.conversations.log import ScopeRows, SqlLog
from mnemoir.storage.sql.conversations.store import time_text
from mnemoir.storage.sql.engine import Engine
from mnemoir.storage.sql.memory_store import SqlMemoryStore
from mnemoir.storage.sql.people import People
from tests.contracts.conftest import staged_backends
from tests.contracts.logs import LOGS, MODEL, OpenedLogs, answered, everything, filled, said, texts
from tests.contracts.words import ASKED, MIRA, NOW, fact
from tests.narrowing import instance, present
from tests.postgres_server import servers
from tests.storage.sealing_kit import cells_in

OMAR = replace(MIRA, user="omar")

FOREIGN: list[Callable[[SqlLog, list[int], list[str]], object]] = [
    lambda log, ids, uids: log.messages_by_id(ids),
    lambda log, ids, uids: log.uids_of(ids),
    lambda log, ids, uids: log.places_of(uids),
    lambda log, ids, uids: log.messages_with_uids(uids),
    lambda log, ids, uids: log.load_messages("s"),
    lambda log, ids, uids: log.message_tree("s", 9),
    lambda log, ids, uids: log.newest_messages("s", 9),
    lambda log, ids, uids: log.way_to("s", ids[-1], 9),
    lambda log, ids, uids: log.way_behind("s", ids[0], 9),
    lambda log, ids, uids: log.in_context(ids, 9),
    lambda log, ids, uids: log.list_sessions(),
    lambda log, ids, uids: log.sessions_page(9),
    lambda log, ids, uids: log.old_sessions(0),
    lambda log, ids, uids: list(log.session_notes()),
    lambda log, ids, uids: log.session_of_history([said("Tea?"), answered("Green.")]),
    lambda log, ids, uids: log.get_summary("s"),
    lambda log, ids, uids: log.claim_summary("s", 60),
    lambda log, ids, uids: log.questions("s", ids),
    lambda log, ids, uids: log.latest_references(9),
    lambda log, ids, uids: log.messages_with_files(9),
    lambda log, ids, uids: log.said_after(0, 9),
    lambda log, ids, uids: log.living_ids(),
    lambda log, ids, uids: log.important_ids(0.1),
    lambda log, ids, uids: log.unembedded_messages("other", 9),
    lambda log, ids, uids: log.await_vectors(ids, MODEL),
    lambda log, ids, uids: log.vectors_to_remove(9),
    lambda log, ids, uids: log.set_pinned(ids[0], True),
    lambda log, ids, uids: log.set_importance(dict.fromkeys(ids, 0.0)),
    lambda log, ids, uids: log.put_recalled(dict.fromkeys(uids, "[9]")),
    lambda log, ids, uids: log.note_new_vectors([], MODEL),
    lambda log, ids, uids: log.set_head("s", ids[0]),
    lambda log, ids, uids: log.delete_messages("s", ids),
    lambda log, ids, uids: log.update_session("s", system_prompt="x"),
    lambda log, ids, uids: log.clear_messages("s"),
    lambda log, ids, uids: log.delete_session("s"),
    lambda log, ids, uids: log.prune_old_sessions(0),
]


@pytest.mark.parametrize("has_rows", [False, True])
def test_another_user_meets_nothing_and_changes_nothing(logs, clock, has_rows):
    mine, other = logs.of(MIRA), logs.of(OMAR)
    ids, uids = filled(mine)
    if has_rows:
        other.create_session("theirs", "")
        other.delete_session("theirs")
    before = everything(mine)
    clock.move(days=1)
    met = [work(other, ids, uids) for work in FOREIGN]
    assert [one for one in met if one] == []
    assert everything(mine) == before
    other.append_messages("s", [said("Coffee?", uid=uids[0])])  # a uid is one user's own
    assert (texts(other), everything(mine)) == (["Coffee?"], before)


@pytest.fixture
def of_all(logs: OpenedLogs) -> Engine:
    if logs.database is None:
        pytest.skip("a file goes as a whole")
    return logs.database


def test_rows_go_with_their_user_and_all_others_stay(logs, of_all):
    for scope in (MIRA, OMAR):
        filled(logs.of(scope))
    before = everything(logs.of(OMAR))
    asyncio.run(People(of_all).drop(MIRA))
    assert everything(logs.of(MIRA)) == [[], [], None, []]
    assert everything(logs.of(OMAR)) == before


def test_rows_become_anothers_but_for_those_with_a_key_of_their_own(logs, of_all):
    filled(logs.of(OMAR))
    before, adoption = everything(logs.of(OMAR)), BegunAdoption(given=OMAR, taken=MIRA)
    if logs.encrypts:
        with pytest.raises(Conflict, match="a key of their own"):
            asyncio.run(Adoptions(of_all).finish(adoption))
    else:
        asyncio.run(Adoptions(of_all).finish(adoption))
    owner, other = (OMAR, MIRA) if logs.encrypts else (MIRA, OMAR)
    assert (everything(logs.of(owner)), everything(logs.of(other))) == (before, [[], [], None, []])


def test_forgetting_all_memories_leaves_the_conversations(logs, of_all, clock):
    store = SqlMemoryStore(of_all, clock)
    asyncio.run(store.commit(MIRA, [fact("Likes tea")], ASKED))
    filled(logs.of(MIRA))
    before = everything(logs.of(MIRA))
    assert asyncio.run(store.delete_all(MIRA)) == 1
    assert everything(logs.of(MIRA)) == before


def words_in(folder: Path) -> set[str]:
    """Which of some words of `filled` are anywhere in the database of a folder."""
    stored = b"".join(file.read_bytes() for file in folder.glob("mnemoir.db*"))
    told = ("Green.", "On tea", "image")
    return {word for word in told if word.encode() in stored or servers.tables_with(folder, word)}


def test_no_word_of_an_encrypted_log_is_in_any_byte(logs, of_all, tmp_path):
    filled(logs.of(MIRA))
    assert words_in(tmp_path) == (set() if logs.encrypts else {"Green.", "On tea", "image"})


@pytest.mark.parametrize("encrypted", staged_backends({name: name for name in LOGS if name.endswith("encrypted")}))
def test_rows_are_encrypted_later_and_histories_are_known_as_before(encrypted, tmp_path, clock):
    history = [said("Tea?", files='[{"type": "image", "url": "u"}]'), answered("Green.")]
    with LOGS[encrypted.removesuffix("-encrypted").replace("encrypted", "sqlite")](tmp_path, clock) as logs:
        filled(logs.of(MIRA))
    with LOGS[encrypted](tmp_path, clock) as logs:
        log, database = logs.of(MIRA), present(logs.database)
        log.update_session("s", system_prompt="Be kind.")
        before, cells = everything(log), cells_in(tmp_path)
        for scope in asyncio.run(database.read(None, lambda sql: scopes_after(sql, 0))):
            asyncio.run(reseal_scope(database, cells, scope, cells.keys.current(scope.owner)))
        asyncio.run(database.empty_log())
        assert (everything(log), words_in(tmp_path)) == (before, set())
        assert (log.session_of_history(history), log.append("s", history).added) == ("s", [])
        log.delete_session("s")
        assert counted(logs) == (0, 0, 0)
        instance(KeyRing, cells.keys).close()


def counted(logs: OpenedLogs) -> tuple[int, int, int]:
    """Conversations, messages and bytes, by the counters and, where nothing is encrypted, by the rows."""
    log, amounts = logs.of(MIRA), ScopeRows(present(logs.database), MIRA).amounts()
    sessions = [one.id for one in log.list_sessions(99)]
    messages = [one.message for session in sessions for one in log.message_tree(session, 99)]
    assert (amounts.conversations, amounts.messages) == (len(sessions), len(messages))
    if not logs.encrypts:
        assert amounts.bytes == sum(len(one.text.encode()) for one in messages)
    return amounts.conversations, amounts.messages, amounts.bytes


def test_what_a_user_has_is_counted_with_each_change(logs, of_all, clock):
    log, question = logs.of(MIRA), said("Tea? 🍵", uid="msg_1")
    assert counted(logs) == (0, 0, 0)
    log.create_session("empty", "")
    [first] = log.append_messages("s", [question])
    log.append_messages("s", [question])
    old = log.put_answer("s", answered("Green."), first)[0]
    log.append("s", [said("Tea? 🍵"), answered("Black."), said("Milk?")])
    log.branch_session("s", old, "copy", SessionMetadata())
    assert counted(logs)[:2] == (3, 6)
    with pytest.raises(MessageNotFoundError):
        log.append_messages("other", [said("Lost")], parent_id=99_999)
    assert (log.delete_messages("s", [old]), log.clear_messages("copy")) == (1, 2)
    assert counted(logs)[:2] == (3, 3)
    clock.move(minutes=1)
    log.update_session_activity("empty")
    assert ScopeRows(of_all, MIRA).amounts().last_used == time_text(clock())
    log.together(lambda within: [within.append_messages("s", [said("More")]), within.delete_session("empty")])
    assert counted(logs)[:2] == (2, 4)
    clock.move(days=1)
    assert log.prune_old_sessions(0) == 2
    assert counted(logs) == (0, 0, 0)


def test_what_all_users_have_is_told_without_a_look_into_each_log(logs, of_all, clock):
    every, elsewhere = AllLogs(of_all), replace(OMAR, project="other")
    for scope, sessions in ((MIRA, ("a", "b")), (OMAR, ("a",)), (elsewhere, ("c",))):
        for session in sessions:
            logs.of(scope).append_messages(session, [said("Tea?", session_id=session)])
        clock.move(days=1)
    logs.of(replace(MIRA, user="gone")).create_session("x", "")
    assert logs.of(replace(MIRA, user="gone")).delete_session("x")

    def told(work):
        return [(one.project, one.user) for one in asyncio.run(work)]

    assert told(every.owners()) == [("demo", "mira"), ("demo", "omar"), ("other", "omar")]
    assert told(every.owners_with("a")) == [("demo", "mira"), ("demo", "omar")]
    assert told(every.owners_used_before(NOW + timedelta(hours=1))) == [("demo", "mira")]
    totals = asyncio.run(every.totals())
    assert (totals.conversations, totals.messages, totals.last_used) == (4, 4, time_text(NOW + timedelta(days=3)))
    by_user = asyncio.run(every.totals_by_user("default"))
    assert {user: one.messages for user, one in by_user.items()} == {"mira": 2, "omar": 2}
    assert asyncio.run(every.messages_by_day(NOW.date() + timedelta(days=1))) == {"2026-01-22": 1, "2026-01-23": 1}
    asyncio.run(People(of_all).drop(OMAR))
    assert told(every.owners_with("a")) == [("demo", "mira")]
