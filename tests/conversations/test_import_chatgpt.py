"""Exports of ChatGPT: trees of nodes, some of them hidden, in a list or in the archive that people download."""

import json
import zipfile
from datetime import datetime
from io import BytesIO

import pytest

from mnemoir.conversations import MediaPart, MemoryManager, Message, ToolCall
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.conversations.windows.validity import assert_valid_history
from tests.conversations.transfer_kit import texts, tree

AT = 1_772_625_600.25  # 2026-03-04T12:00:00.250000Z


def node(key: str, parent: str | None, role: str | None = None, *parts, **more) -> dict:
    """A node of the tree; without a role a placeholder."""
    if role is None:
        return {"id": key, "message": None, "parent": parent, "children": []}
    content = more.pop("content", {"content_type": "text", "parts": list(parts)})
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    message = {"id": key, "author": author, "create_time": AT, "content": content, "metadata": {}, "recipient": "all"}
    return {"id": key, "message": {**message, **more}, "parent": parent, "children": []}


def conversation(*nodes: dict, current: str | None = None, **about) -> dict:
    return {
        "title": "Lisbon",
        "create_time": AT,
        "update_time": AT + 600,
        "mapping": {each["id"]: each for each in nodes},
        "current_node": current or (nodes[-1]["id"] if nodes else None),
        "conversation_id": "conv-1",
        "id": "conv-1",
        **about,
    }


HIDDEN = {"is_visually_hidden_from_conversation": True}
TALK = [
    node("root", None),
    node("sys", "root", "system", "", metadata=HIDDEN),
    node("ctx", "sys", "user", content={"content_type": "user_editable_context", "user_profile": "secret"}),
    node("q1", "ctx", "user", "Where to?", create_time=AT + 1),
    node("a1", "q1", "assistant", "To the sea.", create_time=AT + 2),
    node("a2", "q1", "assistant", "To the hills.", create_time=AT + 3, metadata={"finish_details": {"type": "stop"}}),
    node("q2", "a2", "user", "Which ones?", create_time=AT + 60),
    node("t", "q2", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}),
    node("a3", "t", "assistant", "Sintra", create_time=AT + 63, status="in_progress"),
]


@pytest.fixture
def store(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


def take(store: MemoryManager, *conversations, **options):
    return import_sessions(store, json.dumps(conversations).encode(), **options)


def archive(**files: object) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, value in files.items():
            packed.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return made.getvalue()


def test_messages_branches_and_the_head_are_imported(store):
    report = take(store, conversation(*reversed(TALK), current="a3"))
    assert (report.ids, report.messages) == (["conv-1"], 5)
    assert tree(store, "conv-1") == [
        ("Where to?", None),
        ("To the sea.", "Where to?"),
        ("To the hills.", "Where to?"),
        ("Which ones?", "To the hills."),
        ("Sintra", "Which ones?"),
    ]
    assert texts(store, "conv-1") == ["Where to?", "To the hills.", "Which ones?", "Sintra"]
    stored = store.storage.message_tree("conv-1", 10)
    assert stored[0].created_at == datetime(2026, 3, 4, 12, 0, 1, 250_000)
    assert [each.finish_reason for each in stored] == [None, None, "stop", None, "incomplete"]
    session = store.get_session("conv-1")
    assert (session.updated_at, session.metadata.title) == (datetime(2026, 3, 4, 12, 10, 0, 250_000), "Lisbon")
    assert session.metadata.custom == {"imported_from": "chatgpt"}


def test_a_head_that_is_left_out_is_the_message_above_it(store):
    take(store, conversation(*TALK, current="t"))
    assert texts(store, "conv-1")[-1] == "Which ones?"


def test_calls_of_tools_and_their_results_make_a_history_that_models_take(store):
    browse = {"content_type": "code", "language": "unknown", "text": 'search("lisbon")'}
    draw = {"content_type": "code", "text": '{"prompt": "a hill", "n": 1}'}
    talk = [
        node("q", None, "user", "Look and draw."),
        node("c1", "q", "assistant", content=browse, recipient="browser"),
        node("r0", "c1", "tool", content={"content_type": "tether_browsing_display", "result": ""}, name="browser"),
        node("r1", "r0", "tool", content={"content_type": "tether_quote", "title": "T", "url": "u", "text": "x"}),
        node("c2", "r1", "assistant", content=draw, recipient="dalle.text2im"),
        node("r2", "c2", "tool", content={"content_type": "execution_output", "text": "drawn"}, name="dalle.text2im"),
        node("a", "r2", "assistant", "There."),
    ]
    take(store, conversation(*talk))
    history = store.load_session("conv-1")
    assert history[1:] == [
        Message("assistant", None, [ToolCall("c1", "browser", {"input": 'search("lisbon")'})]),
        Message("tool", "T\nu\nx", tool_call_id="c1"),
        Message("assistant", None, [ToolCall("c2", "dalle.text2im", {"prompt": "a hill", "n": 1})]),
        Message("tool", "drawn", tool_call_id="c2", name="dalle.text2im"),
        Message("assistant", "There."),
    ]
    assert_valid_history(history)
    assert store.load_history("conv-1") == history


def test_pictures_and_recordings_are_named(store):
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "width": 9}
    spoken = {"content_type": "audio_transcription", "text": "and this", "direction": "in"}
    clip = {
        "content_type": "real_time_user_audio_video_asset_pointer",
        "audio_asset_pointer": {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_2"},
    }
    content = {"content_type": "multimodal_text", "parts": [image, "What is it?", spoken, clip]}
    take(store, conversation(node("q", None, "user", content=content)))
    assert texts(store, "conv-1") == [
        "[image: file-service://file-1]\nWhat is it?\nand this\n[audio: sediment://file_2]"
    ]


def test_an_unknown_kind_of_content_is_read_as_far_as_it_is_text(store):
    odd = [
        {"content_type": "new_kind", "text": "text"},
        {"content_type": ["?"], "parts": ["part"]},
        {},
        {"parts": None},
    ]
    talk = [node(f"n{at}", f"n{at - 1}" if at else None, "user", content=each) for at, each in enumerate(odd)]
    take(store, conversation(*talk))
    assert texts(store, "conv-1") == ["text", "part"]


def test_the_archive_is_read_as_it_was_downloaded(store):
    first = conversation(*TALK)
    second = conversation(*TALK, conversation_id="conv-2")
    one = archive(**{"conversations.json": [first], "chat.html": b"<html>", "dalle/x.webp": b"\0" * 5000})
    assert import_sessions(store, one).ids == ["conv-1"]
    parts = archive(**{"in/conversations-001.json": [second], "in/conversations-000.json": [first], "user.json": {}})
    report = import_sessions(store, parts, on_conflict="merge")
    assert (report.ids, report.messages) == (["conv-1", "conv-2"], 5)
    assert texts(store, "conv-2") == texts(store, "conv-1")


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (conversation(node("a", "b", "user", "x"), node("b", "a", "user", "y")), ["x", "y"]),
        (conversation(node("a", "gone", "user", "x")), ["x"]),
        (conversation(node("a", None, "user", "x"), current="gone"), ["x"]),
        (conversation(node("a", None, "user", None, "x")), ["x"]),
        (conversation(node("a", None, "user", 5)), ["5"]),
        (conversation(node("a", None, "user", "x", create_time="now"), update_time=1e300), ["x"]),
    ],
)
def test_a_conversation_that_was_written_broken_is_mended(store, broken, told):
    report = take(store, conversation(*TALK), broken | {"conversation_id": "broken"})
    assert (report.ids, report.skipped) == (["conv-1", "broken"], [])
    assert texts(store, "broken") == told


@pytest.mark.parametrize(
    "broken",
    [
        conversation(node("a", "b"), node("b", "a"), current="a"),
        conversation(node("a", None, "critic", "x")),
        conversation() | {"mapping": [1]},
        conversation(*TALK[:3], current="ctx"),
    ],
)
def test_a_conversation_in_which_nothing_can_be_read_is_named_and_keeps_no_other_out(store, broken):
    report = take(store, conversation(*TALK), broken | {"conversation_id": "broken", "title": "Odd"})
    assert (report.ids, [(one.id, one.title) for one in report.skipped]) == (["conv-1"], [("broken", "Odd")])
    with pytest.raises(InvalidImport, match="No conversation in the file can be read"):
        take(store, broken | {"title": "Odd"})


def test_marks_of_citations_become_links_or_go(store):
    references = [
        {"matched_text": "\ue200cite\ue202turn0search3\ue201", "items": [{"title": "T", "url": "https://t.org"}]}
    ]
    marks = ["cite\ue202turn0search3", "cite\ue202turn1", 'entity\ue202["city","Graz"]']
    first, second, place = (f"\ue200{mark}\ue201" for mark in marks)
    said = f"One.{first} Two.{second} In {place}."
    take(store, conversation(node("a", None, "assistant", said, metadata={"content_references": references})))
    assert texts(store, "conv-1") == ["One.([T](https://t.org)) Two. In Graz."]


def test_files_are_named_and_pictures_of_the_archive_are_kept(store):
    picture = b"\x89PNG\r\n\x1a\n" + b"\0" * 60
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-AbC"}
    attachments = [{"id": "file-AbC", "name": "canal.png"}, {"id": "file-9", "name": "letter.pdf"}]
    asked = node(
        "q",
        None,
        "user",
        content={"content_type": "multimodal_text", "parts": [pointer, None, "What is on it?"]},
        metadata={"attachments": attachments},
    )
    import_sessions(store, archive(**{"conversations.json": [conversation(asked)], "file-AbC-canal.png": picture}))
    [message] = store.load_session("conv-1")
    assert isinstance(message.content, list)
    assert [part.filename for part in message.content if isinstance(part, MediaPart)] == ["canal.png"]
    assert message.text == "What is on it?\n[file: letter.pdf]"


@pytest.mark.slow
def test_a_conversation_as_long_as_they_get_is_read_without_recursion(store):
    names = [f"n{at}" for at in range(3000)]
    talk = [node(name, before, "user", name) for name, before in zip(names, [None, *names[:-1]], strict=True)]
    assert take(store, conversation(*talk)).messages == 3000
    assert texts(store, "conv-1") == names
