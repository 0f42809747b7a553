"""Forgetting one chunk: what followed from it goes with it, nothing makes it anew, and the rest stays."""

from typing import Literal

import pytest

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import Conflict
from mnemoir.core.messages import text_message
from mnemoir.memory.discussions.chunk_summaries import make_chunk_summaries
from mnemoir.memory.discussions.parts import ChunkPolicy, Written
from mnemoir.memory.discussions.reading import all_summaries, find_records, recent_summaries, summaries_since
from mnemoir.memory.discussions.records import make_records
from mnemoir.memory.discussions.rolling_summary import count_since, update_rolling_summary
from mnemoir.memory.discussions.transfer import copy_of, put_copy
from mnemoir.memory.discussions.writing import aside, forget_chunk

POLICY = ChunkPolicy(target_tokens=20, most_messages=1, takes_all=True, lookback=0)
SAID = [
    text_message("user", f"Let us now talk about the {name} that we own.") for name in ("cup", "xylophone", "pot")
]


class Model:
    """Says again what it was given; `asked` counts."""

    def __init__(self):
        self.asked = 0

    async def summarise(self, given):
        self.asked += 1
        return Written(text=f"They said: {given.chunk}", by="Main (far)")

    async def extract(self, chunk, complaint):
        self.asked += 1
        return Written(
            text=f'[{{"title": "T", "summary": "{chunk}", "entities": [], "key_phrases": []}}]', by="Main (far)"
        )

    async def condense(self, summary, latest):
        self.asked += 1
        return Written(text=f"In short: {latest}", by="Main (far)")


async def remember(memory, tea, kind, said=SAID):
    """What is not remembered yet; how often a model was asked."""
    model = Model()
    if kind == "records":
        await make_records(memory, tea, said, POLICY, [model.extract])
    else:
        await make_chunk_summaries(memory, tea, said, POLICY, [model.summarise], reads_earlier=False)
    return model.asked


async def blocks(memory, tea, kind):
    return await (memory.records if kind == "records" else memory.ledger).blocks(tea)


async def told(memory, tea, kind):
    """What readers are given, as the words it is about."""
    if kind == "records":
        texts = [record.text for record in await memory.records.newest(tea, limit=99)]
    else:
        texts = await all_summaries(memory, tea)
    return sorted(word for text in texts for word in ("cup", "xylophone", "pot") if word in text)


def files_with(root, word):
    return [file.name for file in root.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


@pytest.fixture(params=["summaries", "records"])
def kind(request):
    return request.param


@pytest.fixture
async def second(memory, tea, kind):
    """The key of the second of three chunks."""
    assert await remember(memory, tea, kind) == 3
    return (await blocks(memory, tea, kind))[1].key


async def test_nothing_is_left_in_any_file_and_no_reader_is_given_it(memory, tea, kind, second):
    assert files_with(tea.root, "xylophone")
    assert await forget_chunk(memory, tea, second, kind=kind)
    assert files_with(tea.root, "xylophone") == []
    assert await told(memory, tea, kind) == ["cup", "pot"]
    assert await find_records(memory, tea, "xylophone") == []
    assert not [text for text in await recent_summaries(memory, tea) if "xylophone" in text]


async def test_no_later_run_makes_it_anew(memory, tea, kind, second):
    await forget_chunk(memory, tea, second, kind=kind)
    assert await remember(memory, tea, kind) == 0
    more = [*SAID, text_message("user", "And now about the table that we own, too.")]
    assert await remember(memory, tea, kind, more) == 1
    assert await told(memory, tea, kind) == ["cup", "pot"]


async def test_it_stays_forgotten_when_its_text_goes_and_comes_back(memory, tea, kind, second):
    await forget_chunk(memory, tea, second, kind=kind)
    await remember(memory, tea, kind, [SAID[0], SAID[2]])
    assert await remember(memory, tea, kind) == 0
    assert [block.is_forgotten for block in await blocks(memory, tea, kind) if not block.is_stale] == [
        *(False, True, False)
    ]


async def test_it_stays_forgotten_in_a_copy(memory, tea, kind, second):
    await forget_chunk(memory, tea, second, kind=kind)
    copied = Discussion(root=tea.root, id="copied")
    await put_copy(memory, copied, await copy_of(memory, tea))
    assert await remember(memory, copied, kind) == 0
    assert await told(memory, copied, kind) == ["cup", "pot"]


async def test_copies_tell_who_made_a_memory(memory, tea, kind, second):
    copied = Discussion(root=tea.root, id="copied")
    await put_copy(memory, copied, await copy_of(memory, tea))
    if kind == "records":
        made = await memory.records.newest(copied, limit=9)
    else:
        made = await memory.ledger.all(copied)
    assert [one.made_by for one in made] == ["Main (far)"] * 3


async def test_what_broken_off_rebuilds_and_imports_left_of_it_goes_too(memory, tea, kind, second):
    for purpose in ("rebuild", "import"):
        await remember(memory, aside(tea, purpose), kind)
    await forget_chunk(memory, tea, second, kind=kind)
    assert files_with(tea.root, "xylophone") == []


async def test_an_unknown_chunk_and_one_of_the_other_kind_are_told(memory, tea, kind, second):
    other: Literal["summaries", "records"] = "summaries" if kind == "records" else "records"
    assert not await forget_chunk(memory, tea, "none", kind=kind)
    assert not await forget_chunk(memory, tea, second, kind=other)
    assert await told(memory, tea, kind) == ["cup", "pot", "xylophone"]
    assert [await forget_chunk(memory, tea, second, kind=kind) for _ in range(2)] == [True, False]


async def test_nothing_is_forgotten_while_memories_are_being_made(memory, tea, kind, second):
    async with memory.files.making(tea):
        with pytest.raises(Conflict, match="being made"):
            await forget_chunk(memory, tea, second, kind=kind, patience_s=0.0)
    assert await told(memory, tea, kind) == ["cup", "pot", "xylophone"]


async def test_a_rolling_summary_that_may_hold_it_is_made_of_the_others(memory, tea):
    await remember(memory, tea, "summaries")
    await update_rolling_summary(memory, tea, Model().condense)
    assert (await memory.summaries.load(tea)).made_by == "Main (far)"
    await forget_chunk(memory, tea, (await memory.ledger.all(tea))[1].id)
    assert await memory.summaries.load(tea) is None
    assert files_with(tea.root, "xylophone") == []
    assert (await count_since(memory, tea), len(await summaries_since(memory, tea))) == (2, 2)
    text = await update_rolling_summary(memory, tea, Model().condense, least=1)
    assert ("cup" in text, "xylophone" in text, "pot" in text) == (True, False, True)


async def test_a_rolling_summary_that_cannot_hold_it_stays(memory, tea):
    await remember(memory, tea, "summaries", SAID[:1])
    await update_rolling_summary(memory, tea, Model().condense, least=1)
    await remember(memory, tea, "summaries")
    await forget_chunk(memory, tea, (await memory.ledger.all(tea))[1].id)
    assert "cup" in (await memory.summaries.load(tea)).text
    assert [("pot" in text) for text in await summaries_since(memory, tea)] == [True]


async def test_of_a_discussion_that_is_forgotten_whole_no_summary_can_be_made(memory, tea):
    await remember(memory, tea, "summaries", SAID[:1])
    await forget_chunk(memory, tea, (await memory.ledger.all(tea))[0].id)
    assert await count_since(memory, tea) == -1


async def test_records_leave_the_rolling_summary_alone(memory, tea):
    for kind in ("summaries", "records"):
        await remember(memory, tea, kind)
    await update_rolling_summary(memory, tea, Model().condense)
    await forget_chunk(memory, tea, (await memory.records.blocks(tea))[1].key, kind="records")
    assert "xylophone" in (await memory.summaries.load(tea)).text
