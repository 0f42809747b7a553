"""Ledgers that other programs wrote: continued where they are, in their form, without losing a member."""

import json

import pytest

from mnemoir.core.discussions import BlockChanges
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from tests.storage.discussions.ledger_kit import (
    ARRAYS,
    array,
    called,
    foreign,
    keys,
    lines,
    live,
    put,
    source,
    texts,
)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


@pytest.fixture
def ledger():
    return FileChunkLedger()


@pytest.mark.parametrize("place", ARRAYS)
async def test_an_array_is_continued_where_it_is_and_an_older_server_reads_on(ledger, root, place):
    file = put(root, place, array(foreign("A", note={"n": 12345678901234567890123}), "odd", foreign("B é")))
    d1 = called(root)
    found = [(chunk.text, chunk.number, chunk.digests) for chunk in await ledger.all(d1)]
    assert found == [("A", 1, ()), ("B é", 2, ())]
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
    assert (last["pi"], last["n"], last["half"]) == (3.14, 123456789012345678901, "\ud800")


async def test_text_with_half_a_surrogate_pair_is_kept(ledger, root):
    for place in ("d1", "d2"):
        if place == "d2":
            put(root, "d2_memories.json", "[]")
        await ledger.append(called(root, place), "broken \ud83d", source("\ud83d"))
        assert await texts(FileChunkLedger(), called(root, place)) == ["broken \ud83d"]


async def test_the_nested_file_wins_over_the_flat_array_and_that_over_the_lines(ledger, root):
    for number, place in reversed(list(enumerate(ARRAYS))):
        put(root, place, array(foreign(str(number))))
        assert await texts(ledger, called(root)) == [str(number)]


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


@pytest.mark.parametrize("link", [*ARRAYS, "d1"])
async def test_a_link_is_neither_read_nor_written_through(ledger, root, tmp_path, link):
    outside = tmp_path / "outside"
    put(outside, "memories.json", array(foreign("A")))
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside if link == "d1" else outside / "memories.json")
    d1 = called(root)
    for call in (lambda: ledger.all(d1), lambda: ledger.newest(d1, 1), lambda: ledger.append(d1, "B", source("b"))):
        with pytest.raises(StorageUnavailable, match="links"):
            await call()
    assert json.loads((outside / "memories.json").read_bytes()) == [foreign("A")]
