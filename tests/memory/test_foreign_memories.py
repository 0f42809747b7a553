"""Memories of other programs are told by their shape, and each statement becomes a line of an import."""

import json
from io import BytesIO

import pytest

from mnemoir.conversations.transfer.copies import InvalidImport, WrongKind
from mnemoir.conversations.transfer.recognition import format_of
from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.errors import InvalidRequest
from mnemoir.memory.foreign import read_memories
from tests.conversations.foreign_files import FILES, lines, written

MEM0 = {"id": "b1", "memory": "Bakes rye bread", "hash": "d4", "created_at": "2025-04-05T10:11:12-07:00"}


def foreign_memories(file: bytes, format="auto"):
    return read_memories(file, format).memories


def read(value) -> tuple[str, list[str], dict[str, int]]:
    """The program of a file, its memories, and what is left out."""
    found = read_memories(value if isinstance(value, bytes) else json.dumps(value).encode(), "auto")
    return found.program, [told["memory"] for told in found.memories or []], dict(found.left_out)


def texts(file: bytes, format="auto") -> list[str]:
    return [told["memory"] for told in foreign_memories(file, format) or []]


@pytest.mark.parametrize(
    "file",
    [
        {"results": [MEM0]},
        [MEM0],
        [{"results": [MEM0]}],
        {"results": [{**MEM0, "score": 0.5, "metadata": {"source": "chat"}, "categories": ["food"]}]},
    ],
)
def test_answers_of_mem0_are_read_with_their_times(file):
    [told] = foreign_memories(json.dumps(file).encode(), "auto") or []
    assert (told["memory"], told["created_at"]) == ("Bakes rye bread", "2025-04-05T17:11:12Z")


def test_pages_categories_and_metadata_of_mem0_are_kept():
    pages = [
        {"results": [MEM0]},
        {"results": [{**MEM0, "memory": "Is tall", "categories": ["body"], "metadata": {"a": 1}}]},
    ]
    found = foreign_memories(json.dumps(pages).encode(), "auto") or []
    assert [told["memory"] for told in found] == ["Bakes rye bread", "Is tall"]
    assert found[1]["metadata"] == {"a": 1, "categories": ["body"]}


def test_observations_have_their_entity_and_relations_both():
    entity = {"type": "entity", "name": "Mira", "entityType": "person", "observations": ["Bakes", "Is tall"]}
    relation = {"type": "relation", "from": "Mira", "to": "Hillside", "relationType": "works at"}
    assert texts(lines(entity, relation)) == ["Mira: Bakes", "Mira: Is tall", "Mira works at Hillside"]


def test_of_letta_all_blocks_but_its_persona_are_read():
    blocks = [{"label": "human", "value": "Name: Mira\nBakes rye bread"}, {"label": "persona", "value": "I help."}]
    agent = {"agents": [{"system": "You are kind."}], "blocks": blocks}
    assert texts(json.dumps(agent).encode()) == ["Name: Mira", "Bakes rye bread"]


def test_memories_of_open_webui_and_of_claude_are_read():
    kept = [{"id": "1", "user_id": "u", "content": "Likes tea", "created_at": 1_740_000_000}]
    assert texts(json.dumps(kept).encode()) == ["Likes tea"]
    told = [{"conversations_memory": "Works as a baker.\n\nLikes tea.", "project_memories": {}, "account_uuid": "a"}]
    assert texts(json.dumps(told).encode()) == ["Works as a baker.", "Likes tea."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Name is Mira.\n\nBakes on\nSaturdays.", ["Name is Mira.", "Bakes on Saturdays."]),
        ("Name is Mira.\nBakes.", ["Name is Mira.", "Bakes."]),
        ("- Name is Mira.\n- Bakes.\n\n1. Is tall.", ["Name is Mira.", "Bakes.", "Is tall."]),
        ("[2025-01-12]. Bakes.\n[2025-13-99]. Odd.", ["Bakes.", "[2025-13-99]. Odd."]),
    ],
)
def test_of_plain_text_a_paragraph_or_a_line_is_a_memory(text, told):
    assert texts(text.encode(), "text") == told


def test_the_day_in_front_of_a_line_is_the_day_of_the_memory():
    [told] = foreign_memories(b"[2025-01-12]. Bakes rye bread.", "text") or []
    assert told == {"memory": "Bakes rye bread.", "created_at": "2025-01-12T00:00:00Z"}


@pytest.mark.parametrize("program", FILES)
def test_conversations_are_refused_by_the_way_that_takes_them(program):
    with pytest.raises(WrongKind, match="mnemoir conversations import"):
        foreign_memories(written(program, FILES[program]), "auto")


def test_bytes_that_are_no_text_are_no_memories():
    with pytest.raises(WrongKind):
        foreign_memories(b"PK\x03\x04 an archive", "text")
    for file in (b"\x89PNG\r\n\x1a\n\0\0", b"a\0b", b"\xff\xfe\x00\xd8"):
        with pytest.raises(InvalidImport, match="no plain text"):
            foreign_memories(file, "text")
    assert texts("Name is Mira.".encode("utf-16"), "text") == ["Name is Mira."]


def test_text_is_never_recognised_by_itself():
    with pytest.raises(InvalidRequest, match="--as memories"):
        foreign_memories(b"Name is Mira.", "auto")


def test_lines_of_an_export_are_read_as_such():
    line = {"id": "m1", "memory": "Likes tea", "user_id": "mira", "created_at": "2025-01-01T00:00:00Z"}
    assert foreign_memories(lines(line, line), "auto") is None
    assert foreign_memories(lines(line), "auto") is None
    assert foreign_memories(b'{"memory": "x", "user_id": "m"\n{', "auto") is None


def test_the_blocks_of_a_letta_agent_are_read_and_its_messages_counted():
    blocks = [
        {"label": "human", "value": "Is Mira\n\nBakes rye", "description": "Of the user", "created_at": "2025-01-01"},
        {"label": "persona", "value": "I help."},
        {"label": "notes", "value": "Lives in Graz"},
    ]
    said = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}, {"role": "user", "content": []}]
    told = {
        "system": "You are kind.",
        "messages": said,
        "tools": [{"source_code": "def a(): pass"}],
        "version": "0.6",
    }
    agent = {"agent_type": "memgpt_agent", "core_memory": blocks, "llm_config": {"model": "gpt"}, **told}
    found = ["Is Mira", "Bakes rye", "Lives in Graz"]
    assert read(agent) == ("letta", found, {"instructions": 3, "messages": 1})
    assert read({**agent, "messages": []}) == ("letta", found, {"instructions": 3})
    assert read({"agents": [told], "blocks": blocks}) == ("letta", found, {"instructions": 3, "messages": 1})
    with pytest.raises(WrongKind, match=r"memories \(Letta\)"):
        format_of(BytesIO(json.dumps(agent).encode()), "auto")


RELATION = {"source": "bob", "relationship": "knows", "target": "carl"}
ODD = [{"text": "Swims"}, "Is tall", 5, {"memory": None, "note": "Hm."}]


@pytest.mark.parametrize(
    ("file", "told", "left_out"),
    [
        ({"results": [MEM0], "relations": [RELATION]}, [], {"relations": 1}),
        ({"results": [MEM0, *ODD]}, ["Swims", "Is tall"], {"other words": 1}),
        ({"results": [MEM0], "summary": "Rather tall"}, [], {"other words": 1}),
        ([MEM0, {"id": "2", "memory": "", "metadata": {"about": "wood"}}], [], {"other words": 1}),
    ],
)
def test_what_mem0_holds_beside_its_memories_is_counted(file, told, left_out):
    assert read(file) == ("mem0", ["Bakes rye bread", *told], left_out)


def test_entities_and_lines_that_tell_nothing_are_counted():
    entity = {"type": "entity", "name": "Mira", "entityType": "person", "observations": "Bakes"}
    bare = {"type": "entity", "name": "Hillside", "entityType": "village", "observations": []}
    file = lines(entity, bare, {"type": "widget", "name": "Cog"}, {"type": "relation", "from": None, "to": ""})
    assert read(file) == ("mcp", ["Mira: Bakes"], {"other words": 3})


def test_the_graph_of_the_mcp_memory_is_read_as_its_file_is():
    entity = {"name": "Mira", "entityType": "person", "observations": ["Bakes"]}
    relation = {"from": "Mira", "to": "Hillside", "relationType": "lives in"}
    graph = {"entities": [entity], "relations": [relation]}
    assert read(graph) == ("mcp", ["Mira: Bakes", "Mira lives in Hillside"], {})
    assert read({"entities": [], "relations": []}) == ("mcp", [], {})


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_files_of_memories_may_be_utf_16(encoding):
    assert read(json.dumps([MEM0]).encode(encoding)) == ("mem0", ["Bakes rye bread"], {})
    entity = json.dumps({"type": "entity", "name": "Mira", "observations": ["Bäckt"]}, ensure_ascii=False)
    assert read(f"{entity}\r\n{entity}\r\n".encode(encoding))[1] == ["Mira: Bäckt"] * 2
    own = '{"memory": "Likes tea", "user_id": "mira", "created_at": "2025-01-01T00:00:00Z"}\n'
    found = read_memories(own.encode(encoding), "auto")
    assert (found.program, found.text) == ("mnemoir", own.encode())


def test_a_list_of_memories_without_times_is_read():
    assert read([{"id": "1", "memory": "Bakes"}, {"memory": "Swims", "user_id": "bob"}]) == (
        "mem0",
        ["Bakes", "Swims"],
        {},
    )


@pytest.mark.parametrize(
    "file",
    [
        b'{"type":"entity","name":"A","observations":["o"]}\n{"type":"entity","name":"B","obs',
        b'[{"memory": "Bakes", "hash": "a"}, {"mem',
        b'{"content": "Bakes", "id": 1}\n{"content": "Swi',
    ],
)
def test_a_file_that_is_cut_off_is_named_as_such(file):
    with pytest.raises(InvalidImport, match=r"not valid JSON.*cut off, export it again"):
        read(file)


def test_a_time_that_has_not_come_is_the_time_of_the_import():
    before = to_text(utc_now())
    file = {"results": [{**MEM0, "created_at": "2099-01-01T00:00:00Z", "updated_at": "2098-01-01T00:00:00Z"}]}
    [told] = read_memories(json.dumps(file).encode(), "auto").memories or []
    assert before <= told["created_at"] <= to_text(utc_now())
    assert "updated_at" not in told


def test_a_day_that_there_is_not_ends_no_memory():
    file = [{**MEM0, "expiration_date": "2024-13-45"}, {**MEM0, "expiration_date": "2031-02-03T00:00:00"}]
    found = read_memories(json.dumps(file).encode(), "auto").memories or []
    assert [told.get("expiration_date") for told in found] == [None, "2031-02-03"]
