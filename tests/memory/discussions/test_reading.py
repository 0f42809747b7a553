"""What is read of a discussion's memory, by nodes that never write."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from mnemoir.core.discussions import (
    BlockChanges,
    ChunkSource,
    Discussion,
    NewRecord,
    Record,
    RollingSummary,
    SourceMessage,
)
from mnemoir.memory.discussions.reading import (
    MOST_KEYWORDS,
    RecordSearch,
    all_summaries,
    find_records,
    keywords_of,
    recent_summaries,
    rolling_summary_text,
    summaries_since,
    text_for_prompt,
)
from mnemoir.ports.embedding import Passage
from mnemoir.providers.embedding.remote import OpenAIEmbeddings
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from tests.discussion_stores import close_stores, discussion_stores
from tests.scripted_llm import ScriptedLLM, failure

HYBRID = RecordSearch(mode="hybrid")


@pytest.fixture
def tea(tmp_path):
    return Discussion(root=tmp_path / "discussions", id="tea-time")


def source(text):
    digest = text.encode().hex().ljust(16, "0")[:16]
    return ChunkSource(hash=digest * 4, digests=[digest], messages=[SourceMessage(role="user", text=text)])


async def put(memory, tea, *texts):
    return [await memory.ledger.append(tea, text, source(text)) for text in texts]


async def record(memory, tea, summary, *, title="", records=None):
    """One record of a chunk of its own."""
    metadata = {"title": title, "summary": summary, "entities": [], "key_phrases": []}
    [entry] = await memory.indexing.entries([Passage(text=f"{title}\n{summary}")])
    store = records or memory.records
    return await store.append(tea, [NewRecord(metadata=metadata, entry=entry)], source(summary))


async def texts(memory, tea, text, **options):
    return [found.text for found in await find_records(memory, tea, text, **options)]


@pytest.mark.parametrize(("count", "expected"), [(0, "345"), (-1, "12345"), (2, "45"), (99, "12345")])
async def test_the_newest_chunk_summaries_are_given_oldest_first(memory, tea, count, expected):
    await put(memory, tea, *"12345")
    assert await recent_summaries(memory, tea, count) == [*expected]


async def test_stale_chunk_summaries_are_not_read(memory, tea):
    made = await put(memory, tea, *"1234")
    await memory.summaries.save(tea, RollingSummary(text="sum", hash=made[0].hash, number=made[0].number))
    await memory.ledger.change(tea, BlockChanges(stale=frozenset([made[2].id])))
    assert await recent_summaries(memory, tea) == ["1", "2", "4"]
    assert await all_summaries(memory, tea) == ["1", "2", "4"]
    assert await summaries_since(memory, tea) == ["2", "4"]
    assert await rolling_summary_text(memory, tea) == "sum"


@pytest.mark.parametrize("how", [RecordSearch(), HYBRID])
async def test_reading_a_discussion_that_nothing_is_kept_of_makes_no_file(memory, tea, tmp_path, how):
    assert await recent_summaries(memory, tea) == []
    assert await recent_summaries(memory, tea, -1) == []
    assert await summaries_since(memory, tea) == []
    assert await rolling_summary_text(memory, tea) is None
    assert await find_records(memory, tea, "tea; pot", how=how) == []
    assert list(tmp_path.rglob("*")) == []


async def test_reading_changes_no_byte_of_what_is_kept(memory, tea):
    await put(memory, tea, *"1234")
    await record(memory, tea, "The tea is green.")
    kept = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tea.root.iterdir()}
    await recent_summaries(memory, tea)
    await summaries_since(memory, tea)
    await find_records(memory, tea, "tea", how=HYBRID)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tea.root.iterdir()} == kept


def test_keywords_stand_between_semicolons_and_only_the_first_sixty_count():
    assert keywords_of(" green tea ;; pot;\n; ") == ["green tea", "pot"]
    assert keywords_of(";".join(map(str, range(99)))) == [str(number) for number in range(MOST_KEYWORDS)]
    assert keywords_of(" ; ") == []


async def test_keywords_find_phrases_and_else_single_words(memory, tea):
    await record(memory, tea, "Ann drinks green tea.")
    await record(memory, tea, "The tea pot is green.")
    assert await texts(memory, tea, "green tea; nothing") == ["Ann drinks green tea."]
    assert sorted(await texts(memory, tea, "tea green")) == ["Ann drinks green tea.", "The tea pot is green."]
    assert await texts(memory, tea, "coffee") == []


@pytest.mark.parametrize("how", [RecordSearch(), HYBRID])
@pytest.mark.parametrize("text", ["", " ; ", ";;;"])
async def test_no_keywords_find_nothing(memory, tea, how, text):
    await record(memory, tea, "Ann drinks green tea.")
    assert await find_records(memory, tea, text, how=how) == []
    assert await find_records(memory, tea, "tea", limit=0, how=how) == []


async def test_weights_say_which_column_counts_most(memory, tea):
    await record(memory, tea, "On pots and pans.", title="tea")
    await record(memory, tea, "On tea and cups.", title="pots")
    by_title = RecordSearch(weights=(10, 0.1, 1, 1, 0.1))
    by_summary = RecordSearch(weights=(0.1, 10, 1, 1, 10))
    assert (await texts(memory, tea, "tea", how=by_title))[0] == "On pots and pans."
    assert (await texts(memory, tea, "tea", how=by_summary))[0] == "On tea and cups."


def standing_at(moment: datetime) -> Callable[[], datetime]:
    """A clock that stands still."""
    return lambda: moment


async def test_newer_records_come_first_among_like_ones_if_wanted(memory, tea):
    now = datetime.now(UTC)
    for days, summary in ((900, "Tea is old."), (60, "Tea is aged."), (0, "Tea is new.")):
        store = SqliteRecordStore(standing_at(now - timedelta(days=days)))
        await record(memory, tea, summary, records=store)
        await store.aclose()
    newest = RecordSearch(prefers_recent=True)
    assert await texts(memory, tea, "tea", how=newest) == ["Tea is new.", "Tea is aged.", "Tea is old."]
    assert await texts(memory, tea, "tea", limit=1, how=newest) == ["Tea is new."]


async def test_hybrid_search_finds_by_meaning_what_no_word_tells(memory, tea):
    await record(memory, tea, "Bolt repaired the bicycle in the garage.")
    key = await record(memory, tea, "Ann adopted a small kitten last winter.")
    assert await texts(memory, tea, "pet cat; animal") == []
    [found] = await find_records(memory, tea, "pet cat; animal", limit=1, how=HYBRID)
    assert (found.text, found.chunk) == ("Ann adopted a small kitten last winter.", key)


async def test_a_question_stands_in_for_the_keywords_of_hybrid_search(memory, tea):
    await record(memory, tea, "Bolt repaired the bicycle in the garage.")
    await record(memory, tea, "Ann adopted a small kitten last winter.")
    how = RecordSearch(mode="hybrid", question="Who has a cat?")
    assert await texts(memory, tea, "bicycle", limit=1, how=how) == ["Ann adopted a small kitten last winter."]


async def test_hybrid_search_keeps_discussions_apart(memory, tea):
    other = Discussion(root=tea.root, id="other")
    await record(memory, tea, "Ann drinks green tea.")
    await record(memory, other, "Bolt drinks black tea.")
    for _ in range(2):
        assert await texts(memory, tea, "who drinks tea", how=HYBRID) == ["Ann drinks green tea."]
        assert await texts(memory, other, "who drinks tea", how=HYBRID) == ["Bolt drinks black tea."]


async def test_hybrid_search_sees_what_was_stored_and_what_went_stale_since(memory, tea):
    first = await record(memory, tea, "Ann drinks green tea.")
    assert await texts(memory, tea, "tea", how=HYBRID) == ["Ann drinks green tea."]
    await record(memory, tea, "Bolt drinks black tea.")
    await memory.records.change(tea, BlockChanges(stale=frozenset([first])))
    assert await texts(memory, tea, "tea", how=HYBRID) == ["Bolt drinks black tea."]


async def test_without_an_embedding_model_only_what_shares_a_word_is_found(tea):
    async with ScriptedLLM() as llm, new_session() as session:
        memory = discussion_stores(OpenAIEmbeddings(Endpoint(base_url=llm.openai_url, model="x", tries=1), session))
        for _ in range(4):
            llm.queue_embedding(failure(503))
        await record(memory, tea, "Ann drinks green tea.")
        assert await texts(memory, tea, "green; coffee", how=HYBRID) == ["Ann drinks green tea."]
        assert await texts(memory, tea, "bicycle", how=HYBRID) == []
        await close_stores(memory)


def test_a_record_is_shown_with_its_day_if_wanted_and_known():
    dated = Record(id=1, text="Tea.", created_at="2026-03-04T23:15:00+00:00", metadata={})
    undated = Record(id=1, text="Tea.", created_at="yesterday", metadata={})
    assert (text_for_prompt(dated), text_for_prompt(dated, is_dated=True)) == ("Tea.", "[2026-03-04] Tea.")
    assert text_for_prompt(undated, is_dated=True) == "Tea."
