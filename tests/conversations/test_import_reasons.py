"""What an import says of a file: the kinds of what is left out, and why a file cannot be read."""

import json
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from mnemoir.conversations import MemoryManager, ToolCall
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport
from tests.conversations.foreign_files import FILES, lines, written


@pytest.fixture
def store(tmp_path) -> Iterator[MemoryManager]:
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


def archive(**files: bytes) -> bytes:
    with BytesIO() as file:
        with zipfile.ZipFile(file, "w") as packed:
            for name, content in files.items():
                packed.writestr(name, content)
        return file.getvalue()


def left_out(store: MemoryManager, file: bytes) -> dict[str, int]:
    return dict(import_sessions(store, file, on_conflict="replace").left_out)


def test_notes_of_lm_studio_itself_are_notices(store):
    block = {"type": "contentBlock", "content": [{"type": "text", "text": "Hi"}]}
    notes = [
        {"type": "debugInfoBlock", "debugInfo": "by prompt"},
        {"type": "status", "statusState": {"text": "Ready"}},
    ]
    version = {"type": "multiStep", "role": "assistant", "steps": [block, *notes]}
    file = {"name": "Tea", "messages": [{"versions": [version], "currentlySelected": 0}]}
    assert left_out(store, json.dumps(file).encode()) == {"notices": 2}


@pytest.mark.parametrize(("shown", "counts"), [("two", {"thinking": 2}), ("one", {"thinking": 2, "other words": 1})])
def test_thinking_of_a_swipe_is_thinking_even_where_another_says_the_same(store, shown, counts):
    infos = [{"extra": {"reasoning": "Hm."}}, {"extra": {"reasoning": "Well."}}]
    line = {"name": "Sage", "mes": shown, "swipes": ["one", "two"], "swipe_id": 1, "swipe_info": infos}
    file = lines({"user_name": "Mira", "character_name": "Sage"}, {**line, "extra": {"reasoning": "Well."}})
    assert left_out(store, file) == counts


def test_a_canvas_that_is_kept_as_a_call_is_not_counted(store):
    content = {"content_type": "code", "text": '{"name":"plan","type":"document","content":"Bake"}'}
    call = {"author": {"role": "assistant"}, "content": content, "recipient": "canmore.create_textdoc"}
    file = [{"id": "c", "current_node": "a", "mapping": {"a": {"parent": None, "message": call}}}]
    assert left_out(store, json.dumps(file).encode()) == {}
    [message] = store.load_session("c")
    arguments = {"name": "plan", "type": "document", "content": "Bake"}
    assert message.tool_calls == [ToolCall("a", "canmore.create_textdoc", arguments)]


@pytest.mark.parametrize(
    ("type", "kind"),
    [("error", "errors"), ("search", "sources"), ("flag", "other words"), ("mystery", "other words")],
)
def test_parts_that_no_reader_knows_are_counted_by_the_kinds_of_the_documentation(store, type, kind):
    parts = [{"type": "text", "text": "Hi"}, {"type": type, "about": "rye"}]
    claude = [{"uuid": "c", "chat_messages": [{"uuid": "m", "sender": "assistant", "content": parts}]}]
    assert left_out(store, json.dumps(claude).encode()) == {kind: 1}


def test_an_archive_of_two_programs_is_refused_by_their_names(store):
    chats: dict[str, Any] = {name: json.dumps(FILES[name]).encode() for name in ("chatgpt", "claude")}
    empty = archive(**{"a/conversations.json": b"[]", "b/conversations.json": chats["claude"]})
    assert import_sessions(store, empty).format == "claude"
    both = archive(**{"a/conversations.json": chats["chatgpt"], "b/conversations.json": chats["claude"]})
    with pytest.raises(InvalidImport, match=r"of chatgpt \(a/conv.* and of claude \(b/conv.* one by one"):
        import_sessions(store, both)


@pytest.mark.parametrize("program", ["lm-studio", "sillytavern", "openai"])
def test_an_archive_of_single_chats_is_refused_with_what_is_in_it_and_what_to_do(store, program):
    file = written(program, FILES[program])
    packed = archive(**{f"{number}.chat": file for number in range(5)})
    with pytest.raises(InvalidImport, match=r"but 0\.chat, 1\.chat, 2\.chat and 2 more\. Unpack it"):
        import_sessions(store, packed)
    with pytest.raises(InvalidImport, match="but nothing"):
        import_sessions(store, archive(**{"empty/": b""}))


@pytest.mark.parametrize("file", [b"[]", b" \n[ ]\n"])
def test_a_list_without_anything_is_refused(store, file):
    with pytest.raises(InvalidImport, match="an empty list"):
        import_sessions(store, file)
