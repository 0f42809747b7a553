"""Files of a discussion are damaged: chats are answered, the damage is told, and nothing is written over."""

import os
import sqlite3
from pathlib import Path

import pytest

from tests.acceptance.discussion_kit import marks_in, open_house, said, settled
from tests.stages import staged
from tests.tree_kit import newest_run, nodes_of

TALK = "tea-time"
POSITIONS = 10
BEFORE, AFTER = said(20), said(24)
LEDGER, SUMMARY, RECORDS = f"{TALK}_memories.jsonl", f"{TALK}_summary.jsonl", f"{TALK}_vector_memory.db"

_WARNING = "discussion memory not read"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with open_house(tmp_path_factory.mktemp("damage")) as opened:
        opened.chat(TALK, BEFORE)
        yield opened


@pytest.fixture(scope="module")
def sound(running):
    """The files as they were left behind, by name."""
    return {name: (running.root / name).read_bytes() for name in (LEDGER, SUMMARY, RECORDS)}


@pytest.fixture
def house(running):
    running.model.clear()
    return running


def put(house, sound, **damaged):
    """The sound files in their places, but for those that are damaged."""
    for name, content in {**sound, **damaged}.items():
        new = house.root / f"{name}.new"
        new.write_bytes(content)
        os.replace(new, house.root / name)


def places_in(content):
    """Positions all over the content, without its first byte and its end."""
    return [1 + number * (len(content) - 2) // POSITIONS for number in range(POSITIONS)]


def with_zeros(content, at, length=1):
    return content[:at] + bytes(length) + content[at + length :]


def told_of(house, name):
    """Whether the newest run tells what is wrong with the file, and the log that memory was left out."""
    told = [note for node in nodes_of(newest_run(house.server)).values() for note in node["notes"]]
    return any(f"{name} is damaged" in note for note in told) and _WARNING in house.server.log.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", [LEDGER, SUMMARY])
def test_a_flipped_byte_anywhere_is_told_and_the_file_is_left_as_it_is(house, sound, name):
    for at in places_in(sound[name]):
        damaged = with_zeros(sound[name], at)
        put(house, sound, **{name: damaged})
        house.server.log.write_bytes(b"")
        house.chat(TALK, AFTER)
        assert (house.root / name).read_bytes() == damaged, at
        assert told_of(house, name), at
    put(house, sound)
    house.chat(TALK, AFTER)
    house.remembers(TALK, settled(AFTER))
    assert house.rolling(TALK) == settled(AFTER)


@pytest.mark.slow
def test_a_ledger_torn_anywhere_is_repaired_and_what_it_lost_is_made_again(house, sound):
    for at in places_in(sound[LEDGER]):
        put(house, sound, **{LEDGER: sound[LEDGER][:at]})
        house.model.clear()
        house.chat(TALK, AFTER)
        house.remembers(TALK, settled(AFTER))
        whole = [mark for line in sound[LEDGER][:at].splitlines(keepends=True)[:-1] for mark in text_marks(line)]
        assert not set(whole) & set(house.model.shown["summaries"])
        assert set(house.model.shown["summaries"].values()) == {1}


@pytest.mark.slow
def test_a_rolling_summary_torn_anywhere_is_written_again(house, sound):
    for at in places_in(sound[SUMMARY]):
        put(house, sound, **{SUMMARY: sound[SUMMARY][:at]})
        house.chat(TALK, AFTER)
        assert house.rolling(TALK) == settled(AFTER)


@pytest.mark.slow
def test_a_database_of_which_a_page_is_damaged_never_begins_anew(house, sound):
    pages = len(sound[RECORDS]) // 4096
    refused = 0
    for page in range(0, pages, max(1, pages // POSITIONS)):
        damaged = with_zeros(sound[RECORDS], page * 4096, 100)
        put(house, sound, **{RECORDS: damaged})
        house.server.log.write_bytes(b"")
        house.chat(TALK, AFTER)
        if (house.root / RECORDS).read_bytes() == damaged:
            refused += 1
            assert told_of(house, RECORDS), page
        else:
            assert still_holds(house.root / RECORDS, settled(BEFORE)), page
        assert house.summaries(TALK) == settled(AFTER)
    assert refused > 0


@pytest.mark.slow
def test_a_database_cut_short_is_told_and_left_as_it_is(house, sound):
    for at in places_in(sound[RECORDS]):
        damaged = sound[RECORDS][:at]
        put(house, sound, **{RECORDS: damaged})
        house.server.log.write_bytes(b"")
        house.chat(TALK, AFTER)
        assert (house.root / RECORDS).read_bytes() == damaged, at
        assert told_of(house, RECORDS), at
        assert house.summaries(TALK) == settled(AFTER)


@pytest.mark.parametrize(
    "make",
    staged([Path.mkdir, os.mkfifo, lambda path: path.write_bytes(bytes(range(256)) * 20)], quick=1),
    ids=["a folder", "a pipe", "bytes"],
)
@pytest.mark.parametrize(
    "ending", staged(["_memories.jsonl", "_summary.jsonl", "_vector_memory.db", ".lock", ""], quick=3)
)
def test_whatever_lies_in_the_place_of_a_file_chats_are_answered_and_it_stays(house, make, ending):
    talk = f"odd-{make.__name__.strip('<>')}-{ending.strip('._')}".replace(".", "-")
    odd = house.root / f"{talk}{ending}"
    make(odd)
    before = os.lstat(odd)
    house.chat(talk, BEFORE)
    house.chat(talk, AFTER)
    after = os.lstat(odd)
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size)
    assert "Traceback" not in house.server.log.read_text()


def text_marks(line):
    return marks_in(line.decode().split('"hash"')[0])


def still_holds(path, marks):
    """Whether the records are all there, or what is left of them cannot be read."""
    database = sqlite3.connect(path)
    try:
        found = {mark for (text,) in database.execute("SELECT memory_text FROM memories") for mark in marks_in(text)}
    except sqlite3.DatabaseError:
        return True
    finally:
        database.close()
    return found >= set(marks)
