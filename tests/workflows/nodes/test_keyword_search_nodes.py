"""The keyword search nodes of older files: pieces of the conversation, or chunk summaries, with some words."""

import pytest

from mnemoir.core.messages import text_message
from mnemoir.workflows.node import node_types
from mnemoir.workflows.nodes.keyword_search import ConversationalKeywordSearch, MemoryKeywordSearch
from tests.workflows.nodes.kept_memory import begun, damage, outdated, summarised

BREAK = "--ChunkBreak--"
TOO_SHORT = "There are no memories. This conversation has not gone long enough for there to be memories."


def long(text):
    """A message that fills a piece alone."""
    return text_message("user", f"{text} {'filler ' * 250}".strip())


def first_words(found):
    return [" ".join(piece.split()[:2]) for piece in found.split(BREAK)]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ConversationalKeywordSearchPerformerTool", ConversationalKeywordSearch),
        ("KeywordSearchPerformerTool", ConversationalKeywordSearch),
        ("MemoryKeywordSearchPerformerTool", MemoryKeywordSearch),
    ],
)
def test_both_are_known_by_every_name_of_the_format(name, kind):
    assert node_types()[name.lower()] is kind


@pytest.mark.parametrize("kind", [ConversationalKeywordSearch, MemoryKeywordSearch])
async def test_pieces_of_the_conversation_with_the_keywords_are_returned_best_first(bench, kind):
    bench.messages = [
        long("a cat"),
        long("no animals"),
        long("two dogs and a cat and a dog"),
        long("the end"),
        text_message("user", "cat dog"),
    ]
    bench.outputs = {1: "cat OR (dog)"}
    found = await bench.run(kind, keywords="{agent1Output}")
    assert first_words(found) == ["two dogs", "a cat"]


async def test_only_the_last_messages_are_searched_if_the_node_says_so(bench):
    bench.messages = [long("first cat"), long("second cat"), long("third cat")]
    found = await bench.run(ConversationalKeywordSearch, keywords="cat", lookbackStartTurn="2")
    assert sorted(first_words(found)) == ["second cat", "third cat"]


@pytest.mark.parametrize(("count", "start"), [(0, 0), (2, 2), (2, 5)])
async def test_a_short_conversation_gives_a_sentence(bench, count, start):
    bench.messages = [text_message("system", "cat"), *(text_message("user", "cat") for _ in range(count))]
    found = await bench.run(ConversationalKeywordSearch, keywords="cat", lookbackStartTurn=start)
    assert found == TOO_SHORT


async def test_names_of_speakers_are_no_keywords(bench):
    bench.messages = [long("Ann: hello"), long("Bob: a cat"), text_message("user", "Ann: well")]
    found = await bench.run(ConversationalKeywordSearch, keywords="Ann AND cat")
    assert first_words(found) == ["Bob: a"]


async def test_chunk_summaries_are_searched_but_for_the_newest_three(bench):
    await summarised(bench, "the cat sat", "a dog", "concatenation", "cat 4", "cat 5", "cat 6")
    said = {"keywords": "cat", "searchTarget": "RecentMemories"}
    assert await bench.run(MemoryKeywordSearch, **said) == "the cat sat\n\nconcatenation"


async def test_up_to_three_chunk_summaries_are_all_searched(bench):
    await summarised(bench, "the cat sat", "a dog", "another cat")
    found = await bench.run(ConversationalKeywordSearch, keywords="cat", searchTarget="recentmemories")
    assert found == "the cat sat\n\nanother cat"


async def test_stale_chunk_summaries_are_not_searched(bench):
    chunks = await summarised(bench, "the cat sat", "a dog", "another cat")
    await outdated(bench, chunks[0])
    assert await bench.run(MemoryKeywordSearch, keywords="cat", searchTarget="RecentMemories") == "another cat"


async def test_at_most_ten_chunk_summaries_are_given(bench):
    await summarised(bench, *(f"cat {number}" for number in range(15)))
    found = await bench.run(MemoryKeywordSearch, keywords="cat", searchTarget="RecentMemories")
    assert found.split("\n\n") == [f"cat {number}" for number in range(10)]


@pytest.mark.parametrize("target", ["RecentMemories", "Everything"])
async def test_without_a_discussion_or_with_another_target_nothing_is_found(bench, target):
    bench.messages = [text_message("user", "cat"), text_message("user", "cat")]
    assert await bench.run(MemoryKeywordSearch, keywords="cat", searchTarget=target) == ""
    begun(bench)
    assert await bench.run(MemoryKeywordSearch, keywords="cat", searchTarget=target) == ""


async def test_summaries_that_cannot_be_read_are_left_out_with_a_note(bench):
    await summarised(bench, "cat")
    damage(begun(bench), (".jsonl",))
    assert await bench.run(MemoryKeywordSearch, keywords="cat", searchTarget="RecentMemories") == ""
    assert [note[:20] for note in bench.step.trace.notes] == ["Memory was left out:"]
