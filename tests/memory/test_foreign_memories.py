"""Memories of other programs are told by their shape, and each statement becomes a line of an import."""

import json

import pytest

from mnemoir.conversations.transfer.copies import WrongKind
from mnemoir.core.errors import InvalidRequest
from mnemoir.memory.foreign import foreign_memories
from tests.conversations.foreign_files import FILES, lines, written

MEM0 = {"id": "b1", "memory": "Bakes rye bread", "hash": "d4", "created_at": "2025-04-05T10:11:12-07:00"}


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


@pytest.mark.parametrize("program", [name for name in FILES if name != "openai"])
def test_conversations_are_refused_by_the_way_that_takes_them(program):
    with pytest.raises(WrongKind, match="mnemoir conversations import"):
        foreign_memories(written(program, FILES[program]), "auto")


def test_text_is_never_recognised_by_itself():
    with pytest.raises(InvalidRequest, match="--as memories"):
        foreign_memories(b"Name is Mira.", "auto")


def test_lines_of_an_export_are_read_as_such():
    line = {"id": "m1", "memory": "Likes tea", "user_id": "mira", "created_at": "2025-01-01T00:00:00Z"}
    assert foreign_memories(lines(line, line), "auto") is None
    assert foreign_memories(lines(line), "auto") is None
    assert foreign_memories(b'{"memory": "x", "user_id": "m"\n{', "auto") is None
