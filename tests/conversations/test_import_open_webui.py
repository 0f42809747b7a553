"""Chats of Open WebUI: with their branches and their head, or as the flat lists of before."""

import json
from datetime import datetime

import pytest

from mnemoir.conversations import MediaPart, MemoryManager, Message, TextPart, ToolCall
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.transfer.copies import InvalidImport, MessageCopy
from mnemoir.conversations.transfer.foreign_trees import ForeignNode, in_order
from tests.conversations.transfer_kit import texts, tree
from tests.narrowing import present

AT = 1_772_625_600  # 2026-03-04T12:00:00Z


def node(name: str, parent: str | None, role: str, content, **more) -> dict:
    return {"id": name, "parentId": parent, "childrenIds": [], "role": role, "content": content, **more}


def chat(*nodes: dict, current: str | None = None, **about) -> dict:
    history = {"messages": {each["id"]: each for each in nodes}, "currentId": current}
    inner = {"id": "", "title": "Lisbon", "models": ["llama3"], "params": {"system": "Be kind."}, "history": history}
    return {
        "id": "chat-1",
        "user_id": "someone",
        "title": "Lisbon",
        "chat": inner,
        "created_at": AT,
        "updated_at": AT + 600,
        "meta": {"tags": ["travel"]},
        "archived": False,
        **about,
    }


BRANCHED = [
    node("q1", None, "user", "Where to?", timestamp=AT),
    node("a1", "q1", "assistant", "To the sea.", timestamp=AT + 1, model="llama3", done=True),
    node("a2", "q1", "assistant", "To the hills.", timestamp=AT + 2, model="mistral", modelIdx=1),
    node("q2", "a1", "user", "Which one?", timestamp=AT + 30),
    node("a3", "q2", "assistant", "The Atl", timestamp=AT + 31, done=False),
    node("q1b", None, "user", "Where from?", timestamp=AT + 40),
]


@pytest.fixture
def store(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


def take(store: MemoryManager, value, **options):
    return import_sessions(store, json.dumps(value).encode(), **options)


@pytest.mark.parametrize("current", ["a3", "a2", "q1b"])
def test_branches_and_the_head_survive(store, current):
    report = take(store, [chat(*reversed(BRANCHED), current=current)])
    assert (report.ids, report.messages) == (["chat-1"], 6)
    assert tree(store, "chat-1") == [
        ("Where to?", None),
        ("To the sea.", "Where to?"),
        ("To the hills.", "Where to?"),
        ("Which one?", "To the sea."),
        ("The Atl", "Which one?"),
        ("Where from?", None),
    ]
    threads = {
        "a3": ["Where to?", "To the sea.", "Which one?", "The Atl"],
        "a2": ["Where to?", "To the hills."],
        "q1b": ["Where from?"],
    }
    assert texts(store, "chat-1") == threads[current]


def test_no_message_is_older_than_the_one_it_follows():
    def at(minute: int | None, name: str, parent: str | None) -> ForeignNode:
        copies = [MessageCopy(message=Message("user", name), parent=0, place=name)]
        created_at = None if minute is None else datetime(2026, 3, 4, 12, minute)
        return ForeignNode(parent=parent, copies=copies, created_at=created_at)

    nodes = {
        "c": at(9, "c", "b"),
        "b": at(1, "b", "a"),
        "a": at(5, "a", None),
        "d": at(None, "d", "a"),
        "e": at(None, "e", None),
    }
    ordered = [(copy.message.text, present(copy.created_at).minute) for copy in in_order(nodes, "d")]
    assert ordered == [("e", 1), ("a", 5), ("b", 5), ("d", 5), ("c", 9)]


def test_times_titles_tags_and_the_prompt_are_imported(store):
    take(store, [chat(*BRANCHED, current="a3")])
    session = store.get_session("chat-1")
    assert (session.created_at, session.updated_at) == (datetime(2026, 3, 4, 12), datetime(2026, 3, 4, 12, 10))
    assert (session.system_prompt, session.metadata.title, session.metadata.tags) == (
        "Be kind.",
        "Lisbon",
        ["travel"],
    )
    assert (session.metadata.user, session.metadata.custom) == (
        None,
        {"imported_from": "open-webui", "models": ["llama3", "mistral"]},
    )
    stored = store.storage.message_tree("chat-1", 10)
    assert stored[3].created_at == datetime(2026, 3, 4, 12, 0, 30)
    assert [each.finish_reason for each in stored] == [None, None, None, None, "incomplete", None]
    turns = [each.turn_id for each in stored]
    assert turns[0] == turns[1] == turns[2] != turns[3] == turns[4] != turns[5]


def test_a_flat_list_of_before_is_one_thread(store):
    old = {
        "id": "old",
        "title": "Old",
        "chat": {
            "title": "Old",
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "hi", "timestamp": AT},
                {"role": "assistant", "content": "hello"},
            ],
            "tags": [{"name": "tagged"}],
            "timestamp": AT * 1000,
        },
    }
    take(store, [old])
    assert texts(store, "old") == ["hi", "hello"]
    session = store.get_session("old")
    assert (session.system_prompt, session.metadata.tags) == ("Be brief.", ["tagged"])
    assert (session.created_at, session.updated_at) == (datetime(2026, 3, 4, 12), datetime(2026, 3, 4, 12))


def test_one_chat_and_the_inside_of_one_are_recognised(store):
    inside = chat(*BRANCHED, current="a2")["chat"] | {"id": "inside"}
    assert take(store, inside).ids == ["inside"]
    assert take(store, chat(*BRANCHED)).ids == ["chat-1"]
    with pytest.raises(InvalidImport, match="an empty list"):
        take(store, [])


def test_a_chat_without_a_usable_id_gets_the_same_one_each_time(store):
    nameless = chat(*BRANCHED, id="")
    [made] = take(store, [nameless]).ids
    assert [each.id for each in take(store, [nameless]).skipped] == [made]


def test_pictures_are_kept_and_other_files_are_named(store):
    dot = "data:image/png;base64,iVBORw0KGgo="
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": dot}}]
    files = [
        {"type": "image", "url": "https://pictures.example/map.png"},
        {"type": "image", "url": "/api/v1/files/12/content"},
        {"type": "file", "name": "plan.pdf", "id": "13"},
        {"type": "image", "url": "javascript:alert(1)"},
    ]
    take(store, [chat(node("q", None, "user", parts), node("r", "q", "user", "these", files=files))])
    assert store.load_session("chat-1") == [
        Message("user", [MediaPart(type="image", url=dot), TextPart("look")]),
        Message(
            "user",
            [
                MediaPart(type="image", url="https://pictures.example/map.png"),
                TextPart("these\n[image: /api/v1/files/12/content]\n[file: plan.pdf]\n[image: javascript:alert(1)]"),
            ],
        ),
    ]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (chat(node("a", "b", "user", "x"), node("b", "a", "user", "y")), ["x", "y"]),
        (chat(node("a", "a", "user", "x")), ["x"]),
        (chat(node("a", "gone", "user", "x")), ["x"]),
        (chat(node("a", None, "user", "x", childrenIds=["b"]), node("b", "gone", "assistant", "y")), ["x", "y"]),
        (chat(node("a", None, "user", "x"), current="gone"), ["x"]),
        (chat(node("a", None, "user", "x"), node("b", "a", "narrator", ""), node("c", "b", "user", "z")), ["x", "z"]),
        (chat(node("a", None, "user", 7)), ["7"]),
        (chat(node("a", None, "user", {"said": ["x", {"too": "y"}]})), ["x\ny"]),
        (chat(node("a", None, "user", "x", timestamp=-1e18)), ["x"]),
        (chat(node("a", None, "user", "x"), updated_at=10**30), ["x"]),
    ],
)
def test_a_chat_that_was_written_broken_is_mended(store, broken, told):
    report = take(store, [chat(*BRANCHED), broken | {"id": "broken"}, chat(*BRANCHED, id="third")])
    assert (report.ids, report.skipped) == (["chat-1", "broken", "third"], [])
    assert texts(store, "broken") == told


@pytest.mark.parametrize(
    ("broken", "named", "why"),
    [
        (chat(id="e", title="Empty"), ("e", "Empty"), "It has no messages."),
        (chat(node("a", None, "narrator", "x"), id="n", title="N"), ("n", "N"), "No message in it can be read."),
        (chat(id="l", title="L") | {"chat": []}, ("l", "L"), "It has no messages."),
        ("x", ("", "Conversation 2"), "It is no conversation."),
        (None, ("", "Conversation 2"), "It is no conversation."),
        (7.5, ("", "Conversation 2"), "It is no conversation."),
    ],
)
def test_a_chat_that_cannot_be_read_is_named_and_keeps_no_other_out(store, broken, named, why):
    report = take(store, [chat(*BRANCHED), broken, chat(*BRANCHED, id="third")])
    assert report.ids == ["chat-1", "third"]
    assert [((one.id, one.title), one.why) for one in report.skipped] == [(named, why)]
    with pytest.raises(InvalidImport, match=f"No conversation in the file can be read. .*{why}"):
        take(store, [broken])


def test_thinking_and_calls_of_tools_in_a_text_are_no_words_of_the_assistant(store):
    call = (
        '<details type="tool_calls" done="true" id="c1" name="weather" arguments="&quot;{\\&quot;city\\&quot;: '
        '\\&quot;Graz\\&quot;}&quot;" result="&quot;sunny&quot;">\n<summary>Tool Executed</summary>\n</details>\n'
    )
    thought = '<details type="reasoning" done="true">\n<summary>Thought for 3 seconds</summary>\n> Hm.\n</details>\n'
    talk = [
        node("q", None, "user", "Weather?"),
        node("a", "q", "assistant", f"{thought}Let me look.\n{call}It is sunny.", error=None),
        node("f", "a", "assistant", None, error={"content": "Model not found"}),
    ]
    report = take(store, [chat(*talk, current="f")])
    assert report.left_out == {"thinking": 1, "errors": 1}
    assert store.load_session("chat-1") == [
        Message("user", "Weather?"),
        Message("assistant", "Let me look.", [ToolCall("c1", "weather", {"city": "Graz"})]),
        Message("tool", "sunny", tool_call_id="c1", name="weather"),
        Message("assistant", "It is sunny."),
        Message("assistant", ""),
    ]
    assert store.storage.message_tree("chat-1", 10)[-1].finish_reason == "incomplete"


CALL = '<details type="tool_calls" done="true" id="c" name="look" result="r">\n<summary>Ran</summary>\n</details>\n'
SHOWN = '<details type="reasoning" done="true">\n<summary>Thought</summary>\nqzcode\n</details>'
BARE = '<details type="reasoning">\nqzcode\n</details>'


@pytest.mark.parametrize(
    "answer",
    [
        f"```html\n{SHOWN}\n```\nqzend",
        f"Look:\n\n~~~~\n```\n{SHOWN}\n```\n~~~~\nqzend",
        f"1. So:\n   ```html\n{SHOWN}\n   ```\n2. qzend",
        f"- ```html\n{SHOWN}\n  ```\n- qzend",
        f"```html\r\n{SHOWN}\r\n```\r\n\r\n~~~\r\n{SHOWN}\r\n~~~\r\nqzend",
        f"Write ```{BARE}``` or ```html\n{SHOWN}\n``` qzend",
        f'The tag `{BARE}` and <details type="tool_calls" done="true"></details> qzend',
        f"    {SHOWN}\n\nis code",
        f"It writes\n{BARE}\nqzend",
        f"```html\n{SHOWN}\nqzend",
        '<details type="reasoning" done="false">\n<summary>Thinking</summary>\n> Hm',
    ],
)
@pytest.mark.parametrize("output", [[], [{"type": "reasoning", "content": []}]])
def test_details_that_an_answer_shows_are_its_words(store, answer, output):
    talk = [node("q", None, "user", "How?"), node("a", "q", "assistant", answer, output=output)]
    report = take(store, [chat(*talk, current="a")])
    assert (texts(store, "chat-1"), report.left_out) == (["How?", answer], {})


def test_thinking_around_code_is_cut_out_of_an_answer_that_shows_code(store):
    thought = f'<details type="reasoning" done="true">\n<summary>Thought</summary>\n> ```\n> Hm.\n</details>\n{CALL}'
    answer = f"{thought}```html\n{SHOWN}\n```\n{thought}qzend"
    report = take(store, [chat(node("a", None, "assistant", answer), current="a")])
    assert report.left_out == {"thinking": 2}
    told = [message for message in store.load_session("chat-1") if message.role == "assistant"]
    assert [one.text for one in told] == ["", f"```html\n{SHOWN}\n```", "qzend"]


def test_many_beginnings_of_details_are_read_in_time(store):
    many = '<details type="reasoning" done="true"\n' * 20_000 + "```x````y" * 1000
    take(store, [chat(node("a", None, "assistant", many + "</details>"), current="a")])
    assert len(texts(store, "chat-1")[0]) > len(many)


def test_a_file_that_is_cut_off_is_refused(store):
    whole = json.dumps([chat(*BRANCHED), chat(*BRANCHED, id="second")]).encode()
    for length in range(len(whole) // 2, len(whole), 37):
        with pytest.raises(InvalidImport):
            import_sessions(store, whole[:length])
    for behind in (b"]", b"{}", b"x", b",{}"):
        with pytest.raises(InvalidImport, match="the file continues"):
            import_sessions(store, whole + behind)
    with pytest.raises(InvalidImport, match="neither a comma nor the end"):
        import_sessions(store, whole.replace(b"}, {", b"} {"))
    assert store.list_sessions() == []
    assert import_sessions(store, b" \n" + whole + b"\n ").sessions == 2
