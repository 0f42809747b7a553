"""Recall as a whole, over a store kept in lists."""

import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnemoir.core.errors import NotSupported
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.search import Indexing, Question, Recall, SearchResult, terms_of
from mnemoir.search.cues import address
from mnemoir.search.ranking import Query, Stages, rank
from mnemoir.search.weights import Weights
from tests.narrowing import instance
from tests.search.hashed_words import HashedWords
from tests.search.listed_rows import ListedRows, fact, message

MIRA = Scope(project="p", user="mira")
NOW = datetime(2026, 1, 21, 10, 30, tzinfo=UTC)
SEEN = Visible(now=NOW)


class Notebook:
    """A store, an embedding model and a recall over both."""

    def __init__(self, model: EmbeddingModel | None = None) -> None:
        self.model: EmbeddingModel = model or HashedWords()
        self.store = ListedRows()
        self.recall = Recall(self.store, self.model)

    async def write(self, *memories: Memory, scope: Scope = MIRA) -> None:
        entries = await Indexing(self.model).entries([Passage(text=memory.text) for memory in memories])
        for memory, entry in zip(memories, entries, strict=True):
            self.store.add(scope, memory, entry)

    async def ask(self, text: str, visible: Visible = SEEN, scope: Scope = MIRA, **options: Any) -> SearchResult:
        question = Question(text=text, asked_at=visible.now, **options)
        return await self.recall.search(scope, question, visible)

    async def ids(self, text: str, visible: Visible = SEEN, scope: Scope = MIRA, **options: object) -> list[str]:
        hits = (await self.ask(text, visible, scope, **options)).hits
        return [hit.memory.id for hit in hits if hit.is_likely]


async def test_a_memory_that_shares_the_words_comes_first() -> None:
    notebook = Notebook()
    await notebook.write(fact("tea", "drinks green tea"), fact("dog", "walks the dog daily"), fact("row", "rows"))
    assert (await notebook.ids("green tea"))[0] == "tea"


async def test_nothing_relevant_gives_no_hits() -> None:
    notebook = Notebook()
    await notebook.write(fact("tea", "drinks tea"))
    assert await notebook.ids("quantum entanglement") == []


async def test_an_unknown_user_has_no_hits() -> None:
    assert await Notebook().ids("tea") == []


async def test_words_bring_in_what_has_no_vector_and_the_result_says_that_vectors_are_pending() -> None:
    notebook = Notebook()
    await notebook.write(fact("cat", "feeds cat"))
    notebook.store.add(MIRA, fact("tea", "drinks green tea"), IndexEntry(terms=terms_of("drinks green tea")))
    result = await notebook.ask("green tea")
    assert [hit.memory.id for hit in result.hits if hit.is_likely] == ["tea"]
    assert result.degraded == ("vectors_pending",)


async def test_vectors_bring_in_what_shares_no_word() -> None:
    notebook = Notebook()
    [entry] = await Indexing(notebook.model).entries([Passage(text="green tea")])
    notebook.store.add(MIRA, fact("tea", "sencha"), replace(entry, terms=terms_of("sencha")))
    assert await notebook.ids("green tea") == ["tea"]


async def test_without_vectors_words_rank_and_the_result_is_degraded() -> None:
    notebook = Notebook()
    await notebook.write(fact("tea", "drinks green tea"), fact("dog", "walks the dog"))
    instance(HashedWords, notebook.model).is_down = True
    result = await notebook.ask("green tea")
    assert ([hit.memory.id for hit in result.hits], result.degraded) == (["tea"], ("vectors",))
    assert result.stages["vectors"].skipped


async def test_without_vectors_and_without_a_word_in_common_the_newest_come_with_score_zero() -> None:
    model = HashedWords()
    model.is_down = True
    notebook = Notebook(model)
    days = ["2026-01-03", "2026-01-05", "2026-01-04"]
    await notebook.write(*(fact(day, "something", at=f"{day}T00:00:00Z") for day in days))
    result = await notebook.ask("quantum", limit=2)
    assert [(hit.memory.id, hit.score) for hit in result.hits] == [("2026-01-05", 0.0), ("2026-01-04", 0.0)]


async def test_late_interaction_is_left_out_for_models_without_token_vectors() -> None:
    notebook = Notebook(HashedWords(tokens=False))
    await notebook.write(fact("tea", "drinks green tea"))
    result = await notebook.ask("green tea")
    assert result.stages["late"].skipped
    assert set(result.hits[0].signals) == {"words", "window", "vector"}


async def test_decay_is_strict_and_applies_before_ranking() -> None:
    notebook = Notebook()
    at = {"kept": "2026-01-15T10:30:00.000Z", "gone": "2026-01-15T10:29:59.999Z", "odd": "garbage"}
    await notebook.write(*(fact(name, "tea tea tea", at=when) for name, when in at.items()))
    visible = Visible(now=NOW, horizon=NOW - timedelta(days=6))
    assert sorted(await notebook.ids("tea", visible, limit=2)) == ["kept", "odd"]


async def test_a_memory_is_shown_through_its_expiry_day_and_not_after() -> None:
    notebook = Notebook()
    await notebook.write(fact("today", "tea", expires_on="2026-01-21"), fact("past", "tea", expires_on="2026-01-20"))
    assert await notebook.ids("tea") == ["today"]


@pytest.mark.parametrize("level", ["agent", "app", "conversation"])
async def test_a_narrower_scope_sees_only_its_own(level: str) -> None:
    notebook = Notebook()
    await notebook.write(fact("a", "tea", **{level: "a"}), fact("b", "tea", **{level: "b"}), fact("none", "tea"))
    assert await notebook.ids("tea", scope=replace(MIRA, **{level: "a"})) == ["a"]
    assert await notebook.ids("tea", scope=replace(MIRA, **{level: "unheard of"})) == []
    assert len(await notebook.ids("tea")) == 3


async def test_users_projects_and_tenants_never_see_each_other() -> None:
    notebook = Notebook()
    others = [replace(MIRA, user="noah"), replace(MIRA, project="q"), replace(MIRA, tenant="t")]
    for number, scope in enumerate([MIRA, *others]):
        await notebook.write(fact(f"m{number}", "drinks tea"), scope=scope)
    assert [await notebook.ids("tea", scope=scope) for scope in [MIRA, *others]] == [["m0"], ["m1"], ["m2"], ["m3"]]


async def test_who_is_named_moves_what_they_said_up() -> None:
    notebook = Notebook()
    await notebook.write(message("a", "i like tea", speaker="Ann"), message("b", "i like tea", speaker="Bob"))
    assert await notebook.ids("what does Bob like, tea?") == ["b", "a"]
    assert await notebook.ids("what does Ann like, tea?") == ["a", "b"]


async def test_a_speaker_who_is_new_is_known_to_the_first_question() -> None:
    notebook = Notebook()
    await notebook.write(message("a", "i like tea", speaker="Ann"))
    await notebook.ask("tea?")
    await notebook.write(message("b", "i like tea", speaker="Bob"))
    assert await notebook.ids("what does Bob like, tea?") == ["b", "a"]
    assert instance(HashedWords, notebook.model).asked[-1] == "what do I like, tea?"


async def test_the_day_that_is_named_moves_what_was_said_then_up() -> None:
    notebook = Notebook()
    await notebook.write(message("old", "we had tea", at="2026-01-02T09:00:00Z"))
    await notebook.write(message("new", "we had tea", at="2026-01-20T09:00:00Z"))
    assert await notebook.ids("tea on 2 January") == ["old", "new"]
    assert await notebook.ids("tea yesterday") == ["new", "old"]


async def test_an_answer_is_found_by_the_words_of_the_message_before_it() -> None:
    notebook = Notebook()
    await notebook.write(message("q", "do you play piano"), message("a", "yes every morning"), fact("f", "unrelated"))
    assert sorted(await notebook.ids("piano")) == ["a", "q"]


async def test_scores_lie_between_zero_and_one_and_the_threshold_cuts() -> None:
    notebook = Notebook()
    await notebook.write(fact("best", "green tea"), fact("part", "black tea and much else besides in a pot"))
    hits = (await notebook.ask("green tea")).hits
    assert [hit.memory.id for hit in hits] == ["best", "part"]
    assert 1 >= hits[0].score > hits[1].score >= 0
    assert await notebook.ids("green tea", threshold=hits[0].score) == ["best"]


async def test_equal_scores_go_by_newer_time_then_by_id() -> None:
    notebook = Notebook()
    times = {"b": "2026-01-02T00:00:00Z", "c": "2026-01-03T00:00:00Z", "a": "2026-01-02T00:00:00Z"}
    await notebook.write(*(fact(name, "tea", at=at) for name, at in times.items()))
    assert await notebook.ids("tea") == ["c", "a", "b"]
    assert await notebook.ids("tea", limit=2) == ["c", "a"]


@pytest.mark.parametrize(
    "hostile",
    [
        '"',
        "*",
        "NEAR(",
        "AND",
        "tea OR",
        "col:x",
        "-x",
        "^x",
        "'; DROP TABLE",
        "a\0b",
        "x" * 100_000,
        "👩‍👩‍👧",
        "((",
        "%s",
    ],
)
async def test_a_query_is_data_whatever_it_looks_like(hostile: str) -> None:
    notebook = Notebook()
    await notebook.write(fact("tea", "drinks green tea"), fact("dog", "walks the dog"))
    assert (await notebook.ids(f"green {hostile} tea"))[0] == "tea"
    await notebook.ask(hostile)


async def test_every_short_printable_query_is_answered() -> None:
    notebook = Notebook()
    await notebook.write(fact("tea", "drinks green tea"))
    for first in string.printable:
        for second in ("", '"', "*", "("):
            await notebook.ask(first + second)


async def test_chinese_is_found_by_a_word_of_two_characters() -> None:
    model = HashedWords()
    model.is_down = True
    notebook = Notebook(model)
    await notebook.write(fact("cat", "我家的猫叫咪咪"), fact("city", "我住在北京市"))
    assert await notebook.ids("北京") == ["city"]
    assert await notebook.ids("猫") == ["cat"]


async def test_a_rewritten_memory_is_found_by_its_new_text_only() -> None:
    notebook = Notebook()
    await notebook.write(fact("home", "lives in graz"))
    assert await notebook.ids("graz") == ["home"]
    [entry] = await Indexing(notebook.model).entries([Passage(text="lives in linz")])
    notebook.store.rewrite(MIRA, 1, fact("home", "lives in linz"), entry)
    assert (await notebook.ids("graz"), await notebook.ids("linz")) == ([], ["home"])


async def test_a_question_asked_again_is_not_embedded_again() -> None:
    notebook = Notebook()
    await notebook.write(fact("tea", "tea"))
    await notebook.ask("tea?")
    await notebook.ask("tea?")
    assert instance(HashedWords, notebook.model).asked.count("tea?") == 1


async def test_nearest_gives_facts_only_with_cosine_and_words() -> None:
    notebook = Notebook()
    await notebook.write(fact("f", "drinks green tea"), message("m", "drinks green tea"), fact("other", "has dog"))
    [near, none] = await notebook.recall.nearest(MIRA, ["drinks green tea", "quantum physics"], SEEN, k=3)
    assert ([hit.memory.id for hit in near], none) == (["f"], [])
    assert near[0].signals["cosine"] == pytest.approx(1, abs=1e-3)
    assert near[0].signals["words"] > 0


async def test_nearest_goes_by_words_when_the_embedding_model_is_down() -> None:
    notebook = Notebook()
    await notebook.write(fact("f", "drinks green tea"))
    instance(HashedWords, notebook.model).is_down = True
    [near] = await notebook.recall.nearest(MIRA, ["green tea"], SEEN, k=3)
    assert ([hit.memory.id for hit in near], set(near[0].signals)) == (["f"], {"words"})


async def test_a_row_is_related_by_its_own_words_or_its_own_vector_alone() -> None:
    notebook = Notebook()
    await notebook.write(message("tea", "drinks green tea"), message("beside", "hm"), fact("other", "has a dog"))
    with notebook.recall._residents.index(notebook.store, MIRA) as index:
        asked = Query(
            text="tea",
            addressed=address("tea", ()),
            embedding=None,
            asked_at=NOW,
            limit=5,
            threshold=0.0,
            codes=lambda seqs: {},
        )
        all_rows = index.alive.copy()
        evident, related = (
            [row.seq for row in rank(index, query, all_rows, Weights(), Stages())]
            for query in (asked, replace(asked, related=True))
        )
    assert (evident, related) == ([1, 2], [1])


async def test_searching_the_past_is_refused() -> None:
    with pytest.raises(NotSupported):
        await Notebook().ask("tea", Visible(now=NOW, at=NOW))
