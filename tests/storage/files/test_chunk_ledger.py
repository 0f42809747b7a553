"""Chunk summaries in files: in order, exactly as they were, in the form in which they were found."""

import json
import stat
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.core.discussions import BlockChanges
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.files.chunk_ledger import FileChunkLedger
from tests.storage.files.ledger_kit import array, called, digest, foreign, lines, live, source, texts

NOON = "2026-03-04T12:00:00.000Z"
ARRAYS = ["d1/memories.json", "d1_memories.json", "d1_memories.jsonl"]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


@pytest.fixture
def ledger():
    return FileChunkLedger(clock=lambda: datetime(2026, 3, 4, 12, tzinfo=UTC))


def put(root, place, content):
    file = root / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def keys(blocks):
    return [block.key for block in blocks]


async def test_looking_makes_nothing(ledger, root):
    d1 = called(root)
    looked = [await ledger.blocks(d1), await ledger.all(d1), await ledger.newest(d1, 3), await ledger.sources(d1)]
    assert [len(found) for found in looked] == [0, 0, 0, 0]
    assert not root.exists()


async def test_beginning_makes_a_private_empty_file_once(ledger, root):
    assert [await ledger.begin(called(root)), await ledger.begin(called(root))] == [False, True]
    file = root / "d1_memories.jsonl"
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"", 0o600)


async def test_a_summary_is_one_line_with_all_that_is_known_of_its_chunk(ledger, root):
    chunk = await ledger.append(called(root), "Tea at noon.", source("a", "b"))
    (line,) = (root / "d1_memories.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "text_block": "Tea at noon.",
        "hash": digest("b"),
        "id": chunk.id,
        "number": 1,
        "created_at": NOON,
        "messages": [digest("a")[:16], digest("b")[:16]],
        "source": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
    }
    assert await FileChunkLedger().all(called(root)) == (chunk,)


async def test_summaries_stand_in_the_order_of_the_conversation_and_numbers_in_that_of_writing(ledger, root):
    d1 = called(root)
    await ledger.append(d1, "one", source("1"))
    three = await ledger.append(d1, "three", source("3"))
    await ledger.append(d1, "two", source("2"), before=three.id)
    await ledger.append(d1, "four", source("4"), before="unknown")
    found = [(chunk.text, chunk.number) for chunk in await ledger.all(d1)]
    assert found == [("one", 1), ("two", 3), ("three", 2), ("four", 4)]
    assert list((await ledger.sources(d1)).values()) == [
        source(text).messages[:1] and list(source(text).messages) for text in "1234"
    ]


async def test_the_newest_are_those_that_are_not_stale(ledger, root):
    d1 = called(root)
    made = [await ledger.append(d1, text, source(text)) for text in "abcde"]
    await ledger.change(d1, BlockChanges(stale=frozenset({made[3].id})))
    for store in (ledger, FileChunkLedger()):
        assert [chunk.text for chunk in await store.newest(d1, 3)] == ["b", "c", "e"]
        assert [chunk.text for chunk in await store.newest(d1, 9)] == ["a", "b", "c", "e"]
        assert list(await store.newest(d1, 0)) == []


async def test_the_newest_of_a_long_ledger_are_found_whatever_the_length_of_its_lines(ledger, root):
    d1 = called(root)
    for text in ("small", "x" * 300_000, "y" * 70_000, "last"):
        await ledger.append(d1, text, source(text))
    assert [len(chunk.text) for chunk in await ledger.newest(d1, 4)] == [5, 300_000, 70_000, 4]


async def test_a_chunk_goes_stale_and_comes_back(ledger, root):
    d1 = called(root)
    made = [await ledger.append(d1, text, source(text)) for text in "ab"]
    await ledger.change(d1, BlockChanges(stale=frozenset({made[0].id, "unknown"})))
    assert [chunk.stale_since for chunk in await ledger.all(d1)] == [NOON, None]
    assert [block.is_stale for block in await ledger.blocks(d1)] == [True, False]
    await ledger.change(d1, BlockChanges(revived=frozenset({made[0].id})))
    assert await ledger.all(d1) == tuple(made)


async def test_changes_of_nothing_make_no_file(ledger, root):
    await ledger.change(called(root), BlockChanges(stale=frozenset({"x"})))
    assert not root.exists()


@pytest.mark.parametrize("place", ARRAYS)
async def test_an_array_is_continued_where_it_is_and_an_older_server_reads_on(ledger, root, place):
    file = put(root, place, array(foreign("A", note={"n": 12345678901234567890123}), "odd", foreign("B é")))
    d1 = called(root)
    assert [(chunk.text, chunk.number, chunk.digests) for chunk in await ledger.all(d1)] == [
        ("A", 1, ()),
        ("B é", 2, ()),
    ]
    await ledger.append(d1, "C", source("c"))
    values = json.loads(file.read_bytes())
    assert [value if isinstance(value, str) else value["text_block"] for value in values] == ["A", "odd", "B é", "C"]
    assert values[0]["note"] == {"n": 12345678901234567890123}
    assert file.read_text() == json.dumps(values, indent=4)
    assert [path.name for path in root.rglob("*") if path.is_file()] == [file.name]


async def test_an_array_holds_only_what_is_not_stale_and_the_rest_stands_aside(ledger, root):
    file = put(root, "d1/memories.json", array(*map(foreign, "ABCD")))
    d1 = called(root)
    blocks = keys(await ledger.blocks(d1))
    await ledger.change(d1, BlockChanges(stale=frozenset(blocks[:3])))
    assert [value["text_block"] for value in json.loads(file.read_bytes())] == ["D"]
    assert [chunk.text for chunk in await ledger.newest(d1, 9)] == ["D"]
    assert await texts(FileChunkLedger(), d1) == ["A", "B", "C", "D"]
    await ledger.append(d1, "E", source("E"), before=blocks[1])
    assert await texts(ledger, d1) == ["A", "E", "B", "C", "D"]
    await ledger.change(d1, BlockChanges(revived=frozenset(blocks[1:3]), stale=frozenset(blocks[3:])))
    assert await texts(ledger, d1) == ["A", "E", "B", "C", "D"]
    assert [value["text_block"] for value in json.loads(file.read_bytes())] == ["E", "B", "C"]
    await ledger.change(d1, BlockChanges(revived=frozenset({blocks[0], blocks[3]})))
    assert await live(ledger, d1) == ["A", "E", "B", "C", "D"]
    assert not (root / "d1_stale.jsonl").exists()
    assert b"behind" not in file.read_bytes()


async def test_a_placed_entry_of_another_program_keeps_its_key_and_gets_digests(ledger, root):
    file = put(root, "d1_memories.json", array(foreign("ok"), foreign("ok"), foreign("last")))
    d1 = called(root)
    before = keys(await ledger.blocks(d1))
    assert len(set(before)) == 3
    await ledger.change(d1, BlockChanges(placed={before[1]: ("x" * 16, "y" * 16)}))
    assert [list(block.digests) for block in await FileChunkLedger().blocks(d1)] == [[], ["x" * 16, "y" * 16], []]
    assert keys(await ledger.blocks(d1)) == before
    assert [value["number"] for value in json.loads(file.read_bytes())] == [1, 2, 3]


async def test_keys_come_out_the_same_after_another_program_dropped_what_we_wrote(ledger, root):
    file = put(root, "d1_memories.json", array(foreign("A"), foreign("B")))
    d1 = called(root)
    before = keys(await ledger.blocks(d1))
    await ledger.change(d1, BlockChanges(placed={before[0]: ("x" * 16,)}))
    await ledger.append(d1, "C", source("c"))
    known = [{name: value[name] for name in ("text_block", "hash")} for value in json.loads(file.read_bytes())]
    file.write_text(array(*known))
    blocks = await ledger.blocks(d1)
    assert (keys(blocks)[:2], [block.digests for block in blocks]) == (before, [(), (), ()])
    await ledger.append(d1, "D", source("d"))
    assert [chunk.number for chunk in await ledger.all(d1)] == [1, 2, 3, 4]


@pytest.mark.parametrize(("place", "form"), [("d1_memories.jsonl", lines), ("d1_memories.json", array)])
async def test_entries_of_odd_shape_survive_every_change_and_are_not_given_out(ledger, root, place, form):
    odd = [7, None, "text", {"hash": "x"}, {"text_block": 5}, {"text_block": "odd", "hash": 3, "messages": "no"}]
    file = put(root, place, form(*odd))
    d1 = called(root)
    (block,) = await ledger.blocks(d1)
    await ledger.append(d1, "new", source("a"), before=block.key)
    await ledger.change(d1, BlockChanges(placed={block.key: ("x" * 16,)}))
    assert await texts(ledger, d1) == ["new", "odd"]
    content = file.read_text()
    values = json.loads(content) if form is array else [json.loads(line) for line in content.splitlines()]
    assert values[:5] == odd[:5]
    assert (values[6]["text_block"], values[6]["hash"], values[6]["messages"]) == ("odd", 3, ["x" * 16])


async def test_members_of_other_programs_survive_rewrites_exactly(ledger, root):
    big = '{"text_block":"A","hash":"h","pi":3.14,"n":123456789012345678901,"half":"\\ud800"}'
    file = put(root, "d1_memories.jsonl", big + "\n")
    (block,) = await ledger.blocks(called(root))
    await ledger.append(called(root), "new", source("a"), before=block.key)
    last = json.loads(file.read_text().splitlines()[1])
    assert {name: last[name] for name in ("pi", "n", "half")} == {
        "pi": 3.14,
        "n": 123456789012345678901,
        "half": "\ud800",
    }


async def test_text_with_half_a_surrogate_pair_is_kept(ledger, root):
    for place in ("d1", "d2"):
        if place == "d2":
            put(root, "d2_memories.json", "[]")
        await ledger.append(called(root, place), "broken \ud83d", source("\ud83d"))
        assert await texts(FileChunkLedger(), called(root, place)) == ["broken \ud83d"]


async def test_a_copied_line_is_a_block_of_its_own(ledger, root):
    await ledger.append(called(root), "A", source("a"))
    file = root / "d1_memories.jsonl"
    file.write_bytes(file.read_bytes() * 2)
    blocks = keys(await ledger.blocks(called(root)))
    assert len(set(blocks)) == 2
    await ledger.change(called(root), BlockChanges(stale=frozenset(blocks[1:])))
    assert await live(ledger, called(root)) == ["A"]


async def test_the_nested_file_wins_over_the_flat_array_and_that_over_the_lines(ledger, root):
    for number, place in reversed(list(enumerate(ARRAYS))):
        put(root, place, array(foreign(str(number))))
        assert await texts(ledger, called(root)) == [str(number)]


async def test_a_ledger_made_apart_takes_the_place_of_the_old_one(ledger, root):
    d1, made = called(root), called(root, "d1/rebuilt")
    await ledger.append(d1, "old", source("o"))
    await ledger.append(made, "new", source("n"))
    await ledger.put_in_place(d1, made)
    assert await texts(ledger, d1) == ["new"]
    assert [path.name for path in root.iterdir()] == ["d1_memories.jsonl"]
    assert "discussion" not in json.loads((root / "d1_memories.jsonl").read_text())


async def test_a_ledger_made_apart_becomes_the_array_where_there_was_one(ledger, root):
    file = put(root, "d1/memories.json", array(foreign("A"), foreign("B")))
    d1, made = called(root), called(root, "apart")
    await ledger.change(d1, BlockChanges(stale=frozenset(keys(await ledger.blocks(d1))[:1])))
    await ledger.append(made, "new", source("n"))
    await ledger.put_in_place(d1, made)
    assert [value["text_block"] for value in json.loads(file.read_bytes())] == ["new"]
    assert [path.name for path in root.rglob("*") if path.is_file()] == ["memories.json"]
    with pytest.raises(StorageUnavailable, match=r"apart_memories\.jsonl is not there"):
        await ledger.put_in_place(d1, made)


async def test_a_change_by_another_process_is_seen_at_once(ledger, root):
    d1 = called(root)
    await ledger.append(d1, "A", source("a"))
    assert await texts(ledger, d1) == ["A"]
    await FileChunkLedger().append(d1, "B", source("b"))
    assert await texts(ledger, d1) == ["A", "B"]
    (root / "d1_memories.jsonl").unlink()
    assert await texts(ledger, d1) == []


@pytest.mark.parametrize(
    "id", ["../x", "/etc/x", "x\0", "..", "", "é" * 300, "CON", "x.", "\u202ex", "\ud800", "%41"]
)
async def test_a_hostile_id_has_its_ledger_inside_the_root_and_tells_its_name(ledger, root, tmp_path, id):
    chunk = await ledger.append(called(root, id), "A", source("a"))
    assert await FileChunkLedger().all(called(root, id)) == (chunk,)
    assert [path.name for path in tmp_path.iterdir()] == ["DiscussionIds"]
    (file,) = root.iterdir()
    assert json.loads(file.read_text())["discussion"] == id


async def test_ids_that_differ_by_case_share_nothing(ledger, root):
    for id in ("a", "A", "é", "e\u0301"):
        await ledger.append(called(root, id), id, source(id))
    assert [await texts(ledger, called(root, id)) for id in ("a", "A", "é", "e\u0301")] == [
        ["a"],
        ["A"],
        ["é"],
        ["e\u0301"],
    ]


@pytest.mark.parametrize("link", [*ARRAYS, "d1"])
async def test_a_link_is_neither_read_nor_written_through(ledger, root, tmp_path, link):
    outside = tmp_path / "outside"
    put(outside, "memories.json", array(foreign("A")))
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside if link == "d1" else outside / "memories.json")
    for call in (
        ledger.all(called(root)),
        ledger.newest(called(root), 1),
        ledger.append(called(root), "B", source("b")),
    ):
        with pytest.raises(StorageUnavailable, match="links"):
            await call
    assert json.loads((outside / "memories.json").read_bytes()) == [foreign("A")]


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["append", "before", "stale", "revive", "place", "reopen", "foreign"]), st.integers(0, 50)
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(operations=OPERATIONS, start=st.sampled_from(["none", "lines", "array"]))
async def test_a_ledger_behaves_like_a_list(tmp_path_factory, operations, start):
    root = tmp_path_factory.mktemp("discussions")
    d1, ledger = called(root), FileChunkLedger()
    model = [] if start == "none" else [["same", False], ["same", False], ["other", False]]  # text and whether stale
    file = root / ("d1_memories.json" if start == "array" else "d1_memories.jsonl")
    if start != "none":
        file.write_text((array if start == "array" else lines)(*(foreign(text) for text, _ in model)))
    for number, (operation, choice) in enumerate(operations):
        blocks = keys(await ledger.blocks(d1))
        at = choice % len(model) if model else None
        if operation == "append" or (operation == "before" and at is None):
            await ledger.append(d1, f"t{number}", source(f"t{number}"))
            model.append([f"t{number}", False])
        elif operation == "before":
            await ledger.append(d1, f"t{number}", source(f"t{number}"), before=blocks[at])
            model.insert(at, [f"t{number}", False])
        elif operation in ("stale", "revive") and at is not None:
            await ledger.change(d1, BlockChanges(**{operation.replace("revive", "revived"): frozenset({blocks[at]})}))
            model[at][1] = operation == "stale"
        elif operation == "place" and at is not None:
            await ledger.change(d1, BlockChanges(placed={blocks[at]: ("p" * 16,)}))
        elif operation == "reopen":
            ledger = FileChunkLedger()
        elif operation == "foreign" and start == "array":
            known = [
                {name: value[name] for name in ("text_block", "hash")} for value in json.loads(file.read_bytes())
            ]
            file.write_text(array(*known, foreign(f"f{number}")))
            model = [row for row in model if not row[1]] + [[f"f{number}", False]] + [row for row in model if row[1]]
            assert sorted(await live(ledger, d1)) == sorted(text for text, stale in model if not stale)
            model = [[chunk.text, chunk.stale_since is not None] for chunk in await ledger.all(d1)]
        found = await ledger.all(d1)
        assert [[chunk.text, chunk.stale_since is not None] for chunk in found] == model
        assert len({chunk.id for chunk in found}) == len(found)
        assert [chunk.text for chunk in await ledger.newest(d1, 2)] == [text for text, stale in model if not stale][
            -2:
        ]
