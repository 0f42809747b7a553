"""The memory of one node: its history, its reads and writes, and its behaviour when they fail."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

import pytest
import structlog

from mnemoir.conversations.log.files import (
    FilePayload,
    FileRef,
    FileUnavailable,
    FileUploadConfig,
    ImageConfig,
    StoredFile,
)
from mnemoir.conversations.nodes.memory import (
    NodeParts,
    NodeTokenBufferMemory,
    local_node_parts,
    use_node_parts,
)
from mnemoir.conversations.turns.presets import COMPAT_A_NEW, COMPAT_A_OLD, COMPAT_B, DEFAULT
from mnemoir.conversations.turns.threads import NIL
from mnemoir.conversations.turns.turns import TurnLog
from mnemoir.core.conversations import MediaPart, Message, TextPart, ToolCall
from mnemoir.core.errors import Conflict, InvalidRequest, StorageUnavailable
from mnemoir.ports.turns import Turn
from mnemoir.storage.objects.opening import open_objects
from tests.conversations.node_kit import KEY, PlainStore, WordsModel, memory, say, texts
from tests.narrowing import present

AT = datetime(2026, 1, 7, 10, tzinfo=UTC)
IMAGE = FileRef(type="image", transfer_method="local_file", upload_file_id="up-1")
DOCUMENT = """{"version": 1, "messages": [{"message_id": "1", "parent_message_id": null, "role": "user",
"content": "TEXT", "files": [], "token_count": 1, "created_at": "2026-01-07T10:00:00Z"}]}"""


def history(own: NodeTokenBufferMemory, turn: str = "now", limit: int = 2000, **more: Any) -> list[str]:
    return texts(own.get_history_prompt_messages(turn, "tenant", limit, **more))


def document(store: PlainStore) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(store.objects[KEY])
    return read


def test_flushed_turns_are_the_history_of_the_next_run() -> None:
    store = PlainStore()
    first = memory(store)
    say(first, "1", "hello", "hi")
    first.flush()
    second = memory(store)
    assert history(second) == ["hello", "hi"]
    assert [m.role for m in second.get_history_prompt_messages("now", "tenant")] == ["user", "assistant"]


def test_the_document_is_the_documented_one() -> None:
    store = PlainStore()
    own = memory(store, clock=lambda: AT)
    own.add_messages("m", None, "look here", [IMAGE], "nice", [])
    own.flush()
    common = {"message_id": "m", "parent_message_id": None, "created_at": "2026-01-07T10:00:00Z"}
    file = {"type": "image", "transfer_method": "local_file", "upload_file_id": "up-1", "tool_file_id": None}
    assert document(store) == {
        "version": 1,
        "messages": [
            {
                **common,
                "role": "user",
                "content": "look here",
                "files": [{**file, "url": None, "belongs_to": "user"}],
                "token_count": 2,
            },
            {**common, "role": "assistant", "content": "nice", "files": [], "token_count": 1},
        ],
    }


def test_nothing_is_read_before_it_is_needed_and_then_once() -> None:
    store = PlainStore({KEY: b'{"version": 1, "messages": []}'})
    own = memory(store)
    assert store.asked == []
    history(own)
    say(own, "1", "a", "b")
    history(own)
    assert store.asked == ["exists", "load_once"]


def test_adding_stores_nothing_and_two_flushes_write_once() -> None:
    store = PlainStore()
    own = memory(store)
    say(own, "1", "a", "b")
    assert not own.exists()
    own.flush()
    own.flush()
    assert store.asked.count("save") == 1
    assert own.exists()


def test_a_flush_of_nothing_does_nothing_even_where_the_store_is_down() -> None:
    store = PlainStore()
    store.failing = dict.fromkeys(["exists", "load_once", "save"], OSError("down"))
    memory(store).flush()
    assert store.asked == []


def test_clearing_writes_an_empty_document_at_once_and_the_object_stays() -> None:
    store = PlainStore()
    own = memory(store)
    say(own, "1", "a", "b")
    own.flush()
    say(own, "2", "c", "d")
    own.clear()
    assert document(store) == {"version": 1, "messages": []}
    assert own.exists()
    assert history(own) == []


def test_nodes_conversations_and_apps_have_memories_of_their_own() -> None:
    store = PlainStore()
    parts = NodeParts(objects=store)
    ids = [
        ("app", "talk", "a"),
        ("app", "talk", "b"),
        ("app", "talk2", "a"),
        ("app2", "talk", "a"),
        ("app/talk", "a", "a"),
    ]
    for number, (app, talk, node) in enumerate(ids):
        own = NodeTokenBufferMemory(app, talk, node, WordsModel(), parts=parts)
        say(own, "1", f"said {number}", "yes")
        own.flush()
    for number, (app, talk, node) in enumerate(ids):
        assert history(NodeTokenBufferMemory(app, talk, node, WordsModel(), parts=parts)) == [f"said {number}", "yes"]


def test_a_node_in_a_loop_sees_the_rounds_of_its_own_turn() -> None:
    own = memory(PlainStore())
    say(own, "1", "before", "yes")
    for number in range(3):
        say(own, "2", f"round {number}", f"done {number}", parent="1")
    assert history(own, "2")[:2] == ["before", "yes"]
    assert history(own, "2")[2:] == [text for number in range(3) for text in (f"round {number}", f"done {number}")]


def test_a_regenerated_turn_does_not_see_the_answer_that_it_replaces() -> None:
    rows = [
        Turn(id=id, conversation_id="talk", parent_message_id=parent, query="", created_at=AT, seq=seq)
        for seq, (id, parent) in enumerate([("1", None), ("2", "1"), ("2b", "1")])
    ]
    own = memory(PlainStore(), turns=TurnLog(rows))
    say(own, "1", "first", "one")
    say(own, "2", "second", "bad", parent="1")
    assert history(own, "2b") == ["first", "one"]
    assert history(own, "2") == ["first", "one", "second", "bad"]


def test_without_the_turns_of_the_conversation_a_new_turn_follows_the_last_or_the_one_that_is_named() -> None:
    own = memory(PlainStore())
    say(own, "1", "first", "one")
    say(own, "2", "second", "two", parent="1")
    assert history(own, "new") == ["first", "one", "second", "two"]
    assert history(own, "new", parent_message_id="1") == ["first", "one"]
    assert own._extract_thread(present(own._document()).messages, "new") == []


def test_a_turn_that_neither_conversation_nor_node_knows_has_no_history() -> None:
    row = Turn(id="1", conversation_id="talk", parent_message_id=NIL, query="", created_at=AT)
    own = memory(PlainStore(), turns=TurnLog([row]))
    say(own, "1", "first", "one")
    assert history(own, "unknown") == []
    assert history(own, "unknown", parent_message_id=NIL) == ["first", "one"]


def turns(*pointers: tuple[str, str | None]) -> TurnLog:
    """A conversation of these turns and their parents, oldest first."""
    return TurnLog(
        [
            Turn(id=id, conversation_id="talk", parent_message_id=parent, query="", created_at=AT, seq=at)
            for at, (id, parent) in enumerate(pointers)
        ]
    )


def test_a_turn_whose_parent_is_newer_keeps_its_history_unless_the_rules_pass_over_the_turns_once() -> None:
    log = turns(("1", None), ("3", "2"), ("2", "1"))  # the clock was set back before turn 3
    for rules, expected in [(DEFAULT, ["a", "A", "b", "B"]), (COMPAT_A_NEW, ["a", "A"])]:
        own = memory(PlainStore(), turns=log, rules=rules)
        say(own, "1", "a", "A")
        say(own, "2", "b", "B", parent="1")
        assert history(own, "3") == expected


def test_a_preset_that_takes_the_root_of_another_branch_does_so_in_node_memory() -> None:
    log = turns(("1", None), ("1b", None), ("2", "1"))
    for rules, expected in [(DEFAULT, ["a", "A"]), (COMPAT_A_OLD, ["b", "B"]), (COMPAT_B, ["a", "A", "b", "B"])]:
        own = memory(PlainStore(), turns=log, rules=rules)
        say(own, "1", "a", "A")
        say(own, "1b", "b", "B")
        assert history(own, "2") == expected


def test_rules_that_count_rows_look_at_the_500_newest_turns() -> None:
    log = turns(*((str(number), str(number - 1) if number else None) for number in range(501)))
    for rules, expected in [(DEFAULT, ["a", "A"]), (COMPAT_A_NEW, [])]:
        own = memory(PlainStore(), turns=log, rules=rules)
        say(own, "0", "a", "A")
        assert history(own, "500") == expected


def test_the_history_is_cut_at_turns_and_never_over_the_limit() -> None:
    own = memory(PlainStore())
    say(own, "1", "one two", "three")
    say(own, "2", "four", "five six", parent="1")
    assert history(own, "3", 6) == ["one two", "three", "four", "five six"]
    assert history(own, "3", 5) == ["four", "five six"]
    assert history(own, "3", 2) == []


def test_the_older_rules_cut_between_messages_and_keep_the_last_one() -> None:
    own = memory(PlainStore(), rules=COMPAT_A_OLD)
    say(own, "1", "one two", "three four")
    assert history(own, "1", 3) == ["three four"]
    assert history(own, "1", 0) == ["three four"]


class BrokenModel:
    def get_llm_num_tokens(self, messages: Any) -> int:
        raise RuntimeError("no tokenizer")


def test_a_counter_that_fails_is_replaced_by_an_estimate_or_everything_is_sent_by_older_rules() -> None:
    for rules, expected in [(DEFAULT, []), (COMPAT_A_OLD, ["a" * 400, "b" * 400])]:
        own = NodeTokenBufferMemory(
            "app", "talk", "node", BrokenModel(), parts=NodeParts(objects=PlainStore(), rules=rules)
        )
        say(own, "1", "a" * 400, "b" * 400)
        assert history(own, "1", 50) == expected


def test_a_round_that_was_never_answered_is_left_out_unless_older_rules_keep_it() -> None:
    for rules, expected in [(DEFAULT, ["b", "c"]), (COMPAT_A_OLD, ["a", "", "b", "c"])]:
        own = memory(PlainStore(), rules=rules)
        say(own, "1", "a", "")
        say(own, "2", "b", "c", parent="1")
        assert history(own, "2") == expected


def test_the_history_as_text() -> None:
    own = memory(PlainStore())
    say(own, "1", "hello", "hi")
    assert own.get_history_prompt_text("Q", "A", current_message_id="2") == "Q: hello\nA: hi"
    assert own.get_history_prompt_text(max_token_limit=1, current_message_id="2") == ""


def test_an_agent_node_keeps_its_tool_calls_and_results_in_the_turn() -> None:
    store = PlainStore()
    agent = memory(store, "agent")
    steps = [
        Message("assistant", None, tool_calls=[ToolCall("c1", "add", {"a": 1, "b": 2})]),
        Message("tool", "3", tool_call_id="c1", name="add"),
    ]
    agent.add_messages("1", None, "1 + 2?", [], "It is 3.", [], steps=steps)
    agent.flush()
    expected = [Message("user", "1 + 2?"), *steps, Message("assistant", "It is 3.")]
    assert memory(store, "agent").get_history_prompt_messages("1", "tenant") == expected
    assert memory(store, "agent").get_history_prompt_messages("1", "tenant", 3) == []


def test_a_call_without_a_result_is_answered_as_interrupted() -> None:
    agent = memory(PlainStore())
    call = Message("assistant", None, tool_calls=[ToolCall("c1", "add")])
    agent.add_messages("1", None, "1 + 2?", [], "I could not.", [], steps=[call])
    told = agent.get_history_prompt_messages("1", "tenant")
    assert [(m.role, m.text) for m in told][1:3] == [("assistant", ""), ("tool", "[INTERRUPTED]")]


def test_a_tool_node_and_an_agent_node_never_see_each_other() -> None:
    store = PlainStore()
    tool, agent = memory(store, "tool"), memory(store, "agent")
    tool.add_messages("1", None, "weather in Oslo", [], "-3 degrees", [])
    agent.add_messages("1", None, "Is it cold?", [], "Yes.", [])
    tool.flush()
    agent.flush()
    assert history(memory(store, "tool")) == ["weather in Oslo", "-3 degrees"]
    assert history(memory(store, "agent")) == ["Is it cold?", "Yes."]


class Shelf:
    """A resolver that knows some uploads of one tenant."""

    def __init__(self, *ids: str, unreadable: str = "") -> None:
        self.ids = ids
        self.unreadable = unreadable

    def find(self, ref: FileRef, *, tenant_id: str) -> StoredFile:
        id = ref.upload_file_id or ref.tool_file_id or ""
        if tenant_id != "tenant" or id not in self.ids:
            raise FileUnavailable(f"{id} is gone")
        return StoredFile(
            tenant_id=tenant_id,
            type=ref.type,
            transfer_method=ref.transfer_method,
            related_id=id,
            extension=".png",
            mime_type="image/png",
        )

    def payload(self, file: StoredFile) -> FilePayload:
        if file.related_id == self.unreadable:
            raise FileUnavailable("unreadable")
        return FilePayload(base64_data="AAAA")


def with_files(shelf: Shelf, model: Any = None) -> NodeTokenBufferMemory:
    parts = NodeParts(objects=PlainStore(), files=shelf)
    own = NodeTokenBufferMemory("app", "talk", "node", model or WordsModel(), parts=parts)
    made = FileRef(type="image", transfer_method="tool_file", tool_file_id="made-1")
    own.add_messages("1", None, "look", [IMAGE], "drawn", [made])
    return own


def image(detail: Literal["low", "high"] = "high") -> MediaPart:
    return MediaPart(type="image", mime_type="image/png", base64_data="AAAA", format="png", detail=detail)


def test_files_come_back_in_front_of_the_text_with_high_detail() -> None:
    own = with_files(Shelf("up-1", "made-1"))
    told = own.get_history_prompt_messages("1", "tenant")
    assert [m.content for m in told] == [[image(), TextPart("look")], [image(), TextPart("drawn")]]


def test_only_the_detail_of_a_file_upload_config_is_used() -> None:
    config = FileUploadConfig(image_config=ImageConfig(detail="low"), allowed_file_types=(), number_limits=0)
    told = with_files(Shelf("up-1")).get_history_prompt_messages("1", "tenant", file_upload_config=config)
    assert told[0].content == [image("low"), TextPart("look")]


def test_a_file_that_is_gone_leaves_the_text_and_one_that_cannot_be_shown_leaves_a_list() -> None:
    own = with_files(Shelf("up-1", unreadable="up-1"))
    assert [m.content for m in own.get_history_prompt_messages("1", "tenant")] == [[TextPart("look")], "drawn"]
    assert history(with_files(Shelf("up-1", "made-1")), "1") == ["look", "drawn"]
    told = with_files(Shelf("up-1", "made-1")).get_history_prompt_messages("1", "another")
    assert [m.content for m in told] == ["look", "drawn"]


def test_a_file_of_an_unsupported_kind_is_named_in_a_text_in_front_of_the_words() -> None:
    class Bins(Shelf):
        def find(self, ref: FileRef, *, tenant_id: str) -> StoredFile:
            return StoredFile(tenant_id=tenant_id, type="custom", transfer_method="local_file", filename="data.bin")

    told = with_files(Bins()).get_history_prompt_messages("1", "tenant")
    named = TextPart("[A file of an unsupported kind: data.bin]")
    assert [m.content for m in told] == [[named, TextPart("look")], [named, TextPart("drawn")]]


class TextOnlyModel(WordsModel):
    accepted_media = ()


def test_a_model_that_accepts_only_text_gets_only_text() -> None:
    told = with_files(Shelf("up-1", "made-1"), TextOnlyModel()).get_history_prompt_messages("1", "tenant")
    assert [m.content for m in told] == ["look", "drawn"]


def test_files_of_the_application_are_kept_by_the_id_of_their_upload() -> None:
    store = PlainStore()
    own = memory(store)
    upload = StoredFile(tenant_id="t", type="image", transfer_method="local_file", related_id="up-7")
    remote = StoredFile(tenant_id="t", type="audio", transfer_method="remote_url", remote_url="https://host/a.mp3")
    own.add_messages("1", None, "a", [upload, remote], "b", [])
    own.flush()
    files = document(store)["messages"][0]["files"]
    assert [(f["upload_file_id"], f["url"]) for f in files] == [("up-7", None), (None, "https://host/a.mp3")]


@pytest.mark.parametrize("damaged", [b"not json", b"[]", b"", b'{"messages": 1}', b"\x1f\x8bhalf", b'{"version": 1'])
def test_a_damaged_object_is_kept_before_it_is_written_over(damaged: bytes) -> None:
    store = PlainStore({KEY: damaged})
    own = memory(store, clock=lambda: AT)
    with structlog.testing.capture_logs() as logs:
        assert history(own) == []
    assert [log["event"] for log in logs] == ["node_memory_damaged"]
    assert store.copies == []
    say(own, "1", "a", "b")
    own.flush()
    assert store.copies == [damaged]
    assert f"{KEY}.corrupt-20260107T100000.000000Z" in store.objects
    assert history(memory(store)) == ["a", "b"]


def test_clearing_keeps_a_damaged_object_too_and_two_of_one_instant_are_both_kept() -> None:
    store = PlainStore({KEY: b"one"})
    memory(store, clock=lambda: AT).clear()
    store.objects[KEY] = b"two"
    memory(store, clock=lambda: AT).clear()
    store.objects[KEY] = b"two"
    memory(store, clock=lambda: AT).clear()
    assert store.copies == [b"one", b"two"]


def test_a_damaged_object_that_cannot_be_kept_is_not_written_over() -> None:
    store = PlainStore({KEY: b"damaged"})
    own = memory(store)
    say(own, "1", "a", "b")
    store.failing = {"save": OSError("disk full")}
    with pytest.raises(StorageUnavailable, match="disk full"):
        own.flush()
    assert store.objects == {KEY: b"damaged"}


def test_a_document_of_a_later_version_gives_no_history_and_is_never_written_over() -> None:
    later = b'{"version": 2, "messages": {"a": "new shape"}}'
    store = PlainStore({KEY: later})
    own = memory(store)
    say(own, "1", "a", "b")
    assert history(own, "1") == []
    for write in (own.flush, own.clear):
        with pytest.raises(Conflict, match="later version"):
            write()
    assert store.objects == {KEY: later}


@pytest.mark.parametrize("failure", [OSError("down"), RuntimeError("odd"), StorageUnavailable("down")])
@pytest.mark.parametrize("where", ["exists", "load_once"])
def test_a_store_that_is_down_gives_no_history_and_flush_raises(where: str, failure: Exception) -> None:
    stored = b'{"version": 1, "messages": []}'
    store = PlainStore({KEY: stored})
    store.failing = {where: failure}
    own = memory(store)
    say(own, "1", "a", "b")
    assert history(own, "1") == []
    with pytest.raises(StorageUnavailable):
        own.flush()
    assert store.objects == {KEY: stored}


def test_when_the_store_is_back_the_next_flush_keeps_old_and_new() -> None:
    store = PlainStore()
    first = memory(store)
    say(first, "1", "old", "yes")
    first.flush()
    second = memory(store)
    store.failing = {"exists": OSError("down")}
    say(second, "2", "new", "yes", parent="1")
    with pytest.raises(StorageUnavailable):
        second.flush()
    store.failing = {}
    second.flush()
    assert history(memory(store), "2") == ["old", "yes", "new", "yes"]


def test_members_that_are_not_known_here_survive_a_rewrite() -> None:
    record = {"message_id": "1", "parent_message_id": None, "role": "user", "content": "a", "mood": "good"}
    stored = {"version": 1, "theirs": {"x": 1}, "messages": [{**record, "created_at": "2026-01-07T10:00:00Z"}]}
    store = PlainStore({KEY: json.dumps(stored).encode()})
    own = memory(store)
    say(own, "2", "c", "d")
    own.flush()
    assert document(store)["theirs"] == {"x": 1}
    assert document(store)["messages"][0]["mood"] == "good"


@pytest.mark.parametrize("id", ["", NIL])
def test_a_turn_without_an_id_is_refused(id: str) -> None:
    with pytest.raises(InvalidRequest):
        say(memory(PlainStore()), id, "a", "b")


def test_a_lone_surrogate_loses_one_character_and_not_the_memory() -> None:
    store = PlainStore()
    own = memory(store)
    call = ToolCall("c\udfff", "look", {"at\ud800": "\ud83d", "more": AT})
    own.add_messages(
        "turn", None, "half \ud800", [], "done", [], steps=[Message("assistant", None, tool_calls=[call])]
    )
    own.flush()
    [question, asked, _, answer] = memory(store).get_history_prompt_messages("turn", "tenant")
    assert (question.content, answer.content) == ("half ?", "done")
    assert asked.tool_calls == [ToolCall("c?", "look", {"at?": "?", "more": str(AT)})]


def test_a_memory_with_a_lone_surrogate_can_be_extended() -> None:
    store = PlainStore({KEY: DOCUMENT.replace("TEXT", r"half \ud800").encode()})
    own = memory(store)
    say(own, "2", "c", "d")
    own.flush()
    assert [record["content"] for record in document(store)["messages"]] == ["half ?", "c", "d"]
    assert store.copies == []


def test_arguments_that_are_no_json_are_refused_and_leave_the_memory_as_it_was() -> None:
    store = PlainStore()
    own = memory(store)
    call = ToolCall("c", "look", cast(Any, {("a", "pair"): 1}))
    with pytest.raises(InvalidRequest, match="must be JSON"):
        own.add_messages("turn", None, "q", [], "a", [], steps=[Message("assistant", None, tool_calls=[call])])
    own.flush()
    assert store.objects == {}


def test_parts_set_once_serve_every_memory_of_the_process() -> None:
    store = PlainStore()
    use_node_parts(NodeParts(objects=store))
    try:
        own = NodeTokenBufferMemory("app", "talk", "node", WordsModel(), tenant_id="tenant")
        say(own, "1", "a", "b")
        own.flush()
    finally:
        use_node_parts(None)
    assert list(store.objects) == [own.storage_key] == [KEY]


def test_local_parts_keep_everything_in_one_folder(tmp_path: Path) -> None:
    parts = local_node_parts(tmp_path / "data")
    own = NodeTokenBufferMemory("app", "talk", "node", WordsModel(), parts=parts)
    say(own, "1", "a", "b")
    own.flush()
    assert (tmp_path / "data" / "objects" / KEY).is_file()
    assert history(NodeTokenBufferMemory("app", "talk", "node", WordsModel(), parts=parts)) == ["a", "b"]


def test_large_memories_are_compressed_unless_that_is_off_and_both_are_read() -> None:
    store = open_objects("memory://")
    for compression, begins in (("gzip", b"\x1f\x8b"), ("off", b'{"')):
        own = memory(store, compression=compression)
        say(own, f"{compression} turn", "word " * 20_000, "yes", parent=NIL)
        own.flush()
        assert store.load_once(KEY).startswith(begins)
    assert len(history(memory(store), "off turn", 100_000)) == 4
