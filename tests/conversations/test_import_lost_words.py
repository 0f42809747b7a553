"""Words in members that no reader takes, alone in a chat of each program: they arrive, or are counted."""

import json
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from mnemoir.conversations import MemoryManager
from mnemoir.conversations.transfer import import_sessions
from tests.conversations.foreign_files import BIG_AGI, FILES, IN_LINES, written
from tests.conversations.transfer_kit import texts
from tests.narrowing import present

WORD = "lostword"


@pytest.fixture
def store(tmp_path) -> Iterator[MemoryManager]:
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


def openai(**more: Any) -> bytes:
    said = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi.", **more}]
    return json.dumps(said).encode()


@pytest.mark.parametrize("program", FILES)
def test_words_in_a_member_that_nobody_knows_are_counted(store, program):
    told = json.loads(json.dumps(FILES[program]))
    within = told[0] if isinstance(told, list) else told
    within["remark"] = [{"of": WORD}]
    left_out = import_sessions(store, written(program, told)).left_out
    assert left_out == {"thinking": 1, "other words": 1}


@pytest.mark.parametrize("program", [name for name in FILES if name not in IN_LINES])
def test_pages_of_others_are_counted_as_sources(store, program):
    told = json.loads(json.dumps(FILES[program]))
    within = told[0] if isinstance(told, list) else told
    within["citations"] = [{"title": WORD, "url": "https://example.com/a"}]
    assert import_sessions(store, written(program, told)).left_out == {"thinking": 1, "sources": 1}


def test_what_only_says_how_a_file_is_made_is_not_counted(store):
    more = {
        "created_at": "2024-01-01T00:00:00Z",
        "messageId": "first",
        "status": "ready",
        "aType": "b",
        "finish_reason": "stop",
    }
    assert import_sessions(store, openai(**more, digest="0123456789abcdef")).left_out == {}


def test_a_spoken_answer_arrives_by_its_transcript(store):
    [id] = import_sessions(store, openai(content=None, audio={"id": "a", "transcript": WORD})).ids
    assert texts(store, id)[-1] == WORD


def test_chats_of_deepseek_without_fragments_are_read(store):
    messages = {
        "1": {"id": "1", "parent": None, "children": ["2"], "message": {"role": "USER", "content": "Hello."}},
        "2": {
            "id": "2",
            "parent": "1",
            "message": {"role": "ASSISTANT", "content": "Hi.", "reasoning_content": WORD},
        },
    }
    report = import_sessions(store, json.dumps([{"id": "d", "title": "t", "mapping": messages}]).encode())
    assert (report.format, texts(store, "d"), report.left_out) == ("deepseek", ["Hello.", "Hi."], {"thinking": 1})


def test_folders_of_big_agi_come_along(store):
    told = {
        "conversations": [FILES["big-agi"]],
        "folders": {"folders": [{"title": WORD, "conversationIds": [BIG_AGI["id"]]}]},
    }
    [id] = import_sessions(store, json.dumps(told).encode()).ids
    assert present(store.get_session(id)).metadata.custom["folder"] == WORD


def test_a_thread_of_jan_without_messages_is_named(store):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("threads/a/messages.jsonl", written("jan", FILES["jan"]))
        archive.writestr("threads/b/thread.json", json.dumps({"id": "b", "title": WORD}))
    [skipped] = import_sessions(store, packed.getvalue()).skipped
    assert (skipped.id, skipped.title, skipped.why) == ("b", WORD, "It has no messages.")


@pytest.mark.parametrize(("type", "kind"), [("error", "errors"), ("search", "sources"), ("mystery", "other words")])
def test_parts_of_any_type_are_counted_by_a_kind_that_is_documented(store, type, kind):
    part = {"type": type, "results": [WORD]}
    assert import_sessions(store, openai(content=[part, {"type": "text", "text": "Hi."}])).left_out == {kind: 1}


def test_a_call_whose_arguments_are_text_is_not_counted(store):
    call = {
        "author": {"role": "assistant"},
        "recipient": "canvas.make",
        "content": {"content_type": "code", "text": '{"name": "poem"}'},
    }
    mapping: dict[str, Any] = {"a": {"id": "a", "parent": None, "children": [], "message": call}}
    assert import_sessions(store, json.dumps([{"id": "c", "mapping": mapping}]).encode()).left_out == {}
