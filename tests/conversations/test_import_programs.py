"""Chats of other programs, told by their shape: each word arrives, or what it was in is named as left out."""

import base64
import json
import random
import zipfile
from collections.abc import Iterator
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest

from mnemoir.conversations import MediaPart, MemoryManager, Message, TextPart, ToolCall
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport, SessionCopy, WrongKind
from mnemoir.conversations.transfer.recognition import reader_of
from tests.conversations.foreign_files import (
    CLAUDE,
    FILES,
    IN_LINES,
    JAN,
    LIBRECHAT,
    LM_STUDIO,
    SILLY,
    broken,
    lines,
    words_of,
    written,
)
from tests.conversations.transfer_kit import texts, tree
from tests.narrowing import present


@pytest.fixture
def store(tmp_path) -> Iterator[MemoryManager]:
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


@pytest.mark.parametrize("program", FILES)
def test_each_program_is_told_by_its_shape_and_every_word_of_it_arrives(store, program):
    report = import_sessions(store, written(program, FILES[program]))
    [id] = report.ids
    session = store.get_session(id)
    assert session.metadata.custom["imported_from"] == program
    assert (report.skipped, report.left_out) == ([], {"thinking": 1})
    assert {"wQuestion", "wAnswer"} <= set(words_of(tree(store, id)))


def test_attachments_calls_and_results_of_claude_are_kept_apart_from_what_was_said(store):
    import_sessions(store, written("claude", [CLAUDE]))
    extract = base64.b64encode(b"wExtract").decode()
    document = MediaPart(type="document", mime_type="text/plain", base64_data=extract, filename="wFile.txt")
    assert store.load_session("c1") == [
        Message("user", [document, TextPart("wQuestion\n[file: wPicture.png]")]),
        Message("assistant", None, [ToolCall("t1", "wTool", {"q": "wArgument"})]),
        Message("tool", "wResult", tool_call_id="t1"),
        Message("assistant", "wAnswer"),
    ]


def test_swipes_are_branches_and_speakers_and_dates_of_sillytavern_are_kept(store):
    [id] = import_sessions(store, written("sillytavern", SILLY)).ids
    assert tree(store, id) == [
        ("wGreeting Eddy.", None),
        ("wSecond", None),
        ("wQuestion", "wGreeting Eddy."),
        ("wOther", "wQuestion"),
        ("wAnswer", "wQuestion"),
        ("wRain", "wAnswer"),
    ]
    assert [message.role for message in store.load_session(id)] == ["assistant", "user", "assistant", "system"]
    stored = store.storage.message_tree(id, 10)
    assert [stored[at].created_at for at in (0, 2, 4)] == [
        datetime(2026, 8, 24, 1, 0),
        datetime(2026, 8, 24, 13, 1, 2),
        datetime(2026, 8, 24, 13, 2),
    ]
    group = [SILLY[0], *({"name": name, "is_user": False, "mes": name} for name in ("Orla", "Pip", "Orla"))]
    [id] = import_sessions(store, lines(*group)).ids
    assert [message.name for message in store.load_session(id)] == ["Orla", "Pip", "Orla"]


def test_versions_and_answers_in_the_place_of_another_are_branches(store):
    [id] = import_sessions(store, written("lm-studio", LM_STUDIO)).ids
    assert tree(store, id) == [("wQuestion", None), ("wAnswer", "wQuestion"), ("wOther", "wQuestion")]
    assert texts(store, id) == ["wQuestion", "wAnswer"]
    [id] = import_sessions(store, written("librechat", LIBRECHAT)).ids
    assert texts(store, id)[-1] == "wOther"
    assert store.get_session(id).system_prompt == "wPrompt"


@pytest.mark.parametrize("program", [name for name in FILES if name not in IN_LINES])
def test_a_file_is_read_the_same_however_its_lines_are_broken(tmp_path, program):
    told = FILES[program]
    one = told[0] if isinstance(told, list) else told
    one = one | {"tags": ["first", "second"], "more": [["a"], ["b"]]}
    forms = [
        json.dumps(one).encode(),
        json.dumps(one, indent=1).encode(),
        b"\n" + json.dumps([one], indent=2).encode(),
    ]
    if program == "openai":  # each message on a line of its own
        messages = b",\n".join(json.dumps(message).encode() for message in one["messages"])
        forms.append(b'{"title": "wTitle", "messages": [\n' + messages + b"\n]}")
    found = []
    for number, form in enumerate(forms):
        with MemoryManager(tmp_path / f"{number}.db") as manager:
            [id] = import_sessions(manager, form).ids
            found.append((texts(manager, id), present(manager.get_session(id)).metadata))
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("program", IN_LINES)
def test_a_line_that_is_cut_is_counted_as_left_out(store, program):
    cut = written(program, FILES[program])[:-12]
    assert import_sessions(store, cut).left_out["messages"] == 1


def test_items_of_the_responses_api_are_messages(store):
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "run it"}]},
        {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": '{"cmd":"ls"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "a b"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]
    [id] = import_sessions(store, lines(*items)).ids
    assert store.load_session(id) == [
        Message("user", "run it"),
        Message("assistant", None, [ToolCall("c1", "shell", {"cmd": "ls"})]),
        Message("tool", "a b", tool_call_id="c1"),
        Message("assistant", "done"),
    ]


def test_threads_of_jan_are_read_from_their_folder_with_their_titles(store):
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr("threads/1/thread.json", json.dumps({"id": "1", "title": "Aphids"}))
        packed.writestr("threads/1/messages.jsonl", lines(*JAN))
        packed.writestr("threads/2/messages.jsonl", lines(*JAN))
    report = import_sessions(store, made.getvalue())
    assert [(one, store.get_session(one).metadata.title) for one in report.ids] == [("1", "Aphids"), ("01JAN", None)]


def test_the_other_files_of_an_archive_of_claude_are_named(store):
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr("conversations.json", json.dumps([CLAUDE]))
        packed.writestr("projects.json", json.dumps([{"name": "A house"}]))
        packed.writestr("memories.json", "[]")
    report = import_sessions(store, made.getvalue())
    assert (report.ids, [one.title for one in report.skipped]) == (["c1"], ["projects.json"])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_files_with_a_mark_are_read_in_its_encoding(store, encoding):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    text = written("claude", [CLAUDE]).decode()
    assert import_sessions(store, mark + text.encode(encoding)).ids == ["c1"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"results": [{"id": "1", "memory": "Likes tea"}]}, "mem0"),
        ([{"id": "1", "memory": "Likes tea"}], "mem0"),
        ({"type": "entity", "name": "Mira", "observations": ["bakes"]}, "MCP"),
        ({"agents": [], "blocks": [{"label": "human", "value": "Mira"}]}, "Letta"),
        ([{"user_id": "u", "content": "Likes tea"}], "Open WebUI"),
    ],
)
def test_memories_are_refused_by_the_way_that_takes_them(store, value, told):
    with pytest.raises(WrongKind, match=f"{told}.*`mnemoir import`"):
        import_sessions(store, json.dumps(value).encode())


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([{"header": "Gemini Apps", "title": "Asked", "titleUrl": "u"}], "Gemini"),
        ({"conversations": [{"responses": []}]}, "Grok"),
        ([{"anything": 1}], "not an export of Mnemoir, ChatGPT, Claude"),
    ],
)
def test_a_file_that_is_not_read_is_refused_by_its_program(store, value, told):
    with pytest.raises(InvalidImport, match=told):
        import_sessions(store, json.dumps(value).encode())


def read_words(file: bytes) -> tuple[list[str], bool]:
    """The words that arrive, and whether something is named as left out."""
    found: list[Any] = []
    is_told = False
    with BytesIO(file) as opened:
        for item in reader_of(opened, "auto")(opened):
            if not isinstance(item, SessionCopy):
                is_told = True
                continue
            is_told = is_told or bool(set(item.left_out) - {"thinking"})
            found += [item.metadata.title, item.metadata.custom, item.metadata.tags, item.system_prompt]
            for copy in item.messages:
                parts = copy.message.content if isinstance(copy.message.content, list) else []
                media = [part for part in parts if isinstance(part, MediaPart)]
                found += [base64.b64decode(part.base64_data).decode() for part in media]
                found += [part.filename for part in media]
                found += [copy.message.text, copy.message.name, copy.message.tool_calls]
    return words_of(found), is_told


@pytest.mark.parametrize("program", FILES)
@pytest.mark.parametrize("tries", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_word_of_a_broken_file_is_lost_silently(program, tries):
    chance = random.Random(program)
    for number in range(tries):
        value = broken(FILES[program], chance)
        try:
            arrived, is_told = read_words(written(program, value))
        except InvalidImport:
            continue
        lost = set(words_of(value)) - set(arrived) - {"wThought"}
        assert not lost or is_told, (number, lost, value)


def nested(count: int, *, begins: str = '{"messages": [') -> bytes:
    """A chat of LibreChat whose messages stand within each other."""
    told = "".join(
        f'{{"messageId": "m{at}", "isCreatedByUser": {str(at % 2 == 0).lower()}, "text": "w{at} \\"children\\":[", '
        '"children": ["wOdd", '
        for at in range(count)
    )
    return (begins + told + "null" + "]}" * count + '], "conversationId": "deep", "title": "wTitle"}').encode()


@pytest.mark.parametrize("form", ["alone", "in a list", "over many lines"])
def test_messages_that_stand_within_each_other_are_read_however_deep_they_are(store, form):
    told = nested(600)
    forms = {"alone": told, "in a list": b"[" + told + b"]", "over many lines": told.replace(b", ", b",\n")}
    report = import_sessions(store, forms[form])
    assert (report.ids, report.messages, report.left_out) == (["deep"], 600, {"messages": 600})
    assert texts(store, "deep") == [f'w{at} "children":[' for at in range(600)]


def test_the_branches_of_messages_that_stand_within_each_other_are_kept(store):
    answers = [{"messageId": name, "sender": "User", "text": name} for name in ("wX", "wY")]
    told = nested(60).replace(b'["wOdd", null]', json.dumps(answers).encode()).replace(b'"wOdd", ', b"")
    assert import_sessions(store, told).left_out == {}
    assert tree(store, "deep")[-2:] == [("wX", 'w59 "children":['), ("wY", 'w59 "children":[')]


def test_only_messages_may_stand_within_each_other_so_deep(store):
    within = nested(200, begins='{"messages": [{"messageId": "a", "isCreatedByUser": true, "text": {"messages": [')
    for told in (within[:-1] + b"}]}", nested(200, begins='{"messageId": "a", "others": [')):
        with pytest.raises(InvalidImport, match="100 levels deep"):
            import_sessions(store, told)
    assert store.list_sessions() == []
