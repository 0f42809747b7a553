"""Search for phrases: nothing in them is syntax, and what is fast finds the same as what is plain."""

import asyncio
import math
import string

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemoir.core.discussions import Discussion
from mnemoir.storage.discussions.record_search import install, search
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.sqlite.transactions import SqliteSql
from tests.narrowing import instance
from tests.storage.discussions.record_words import connected, file_of, record, source

TEXTS = [
    "Likes green tea in the morning",
    "Green likes of the tea",
    "NEAR the harbour AND the sea OR so",
    "col x title summary",
    "a b c 1 2 3 aa zz 0x",
    "Running runners ran",
    "naïve café 😀 tea",
    'quoted "green tea" here',
]


@pytest.fixture
def tea(tmp_path):
    return Discussion(root=tmp_path, id="tea")


@pytest.fixture
async def store(tea):
    store = SqliteRecordStore()
    await store.append(tea, [record(text) for text in TEXTS], source("one"))
    yield store
    await store.aclose()


async def texts(store, discussion, *keywords, **options):
    return [one.text for one in await store.search(discussion, keywords, limit=100, **options)]


async def test_a_phrase_stands_side_by_side_whatever_its_case_form_and_hyphens(store, tea):
    assert sorted(await texts(store, tea, "GREEN-teas")) == [TEXTS[0], TEXTS[7]]
    assert await texts(store, tea, "run") == [TEXTS[5]]


async def test_single_words_are_looked_for_when_no_phrase_is_found(store, tea):
    assert sorted(await texts(store, tea, "harbour of dreams")) == [TEXTS[1], TEXTS[2]]
    assert sorted(await texts(store, tea, "harbour of dreams", "green tea")) == [TEXTS[0], TEXTS[7]]


async def test_nothing_is_found_by_nothing(store, tea):
    for keywords in ([], [""], ["", "  ", "-", '"', "\0", "!?"]):
        assert await store.search(tea, keywords, limit=5) == []
    assert await store.search(tea, ["tea"], limit=0) == []
    assert await store.search(tea, ["tea"], limit=-1) == []


async def test_a_word_that_was_counted_is_found_in_what_is_stored_afterwards(store, tea):
    assert await texts(store, tea, "harvest") == []
    await store.append(tea, [record("harvest")], source("two"))
    assert await texts(store, tea, "harvest") == ["harvest"]
    await store.append(tea, [record("a harvest of plums")], source("three"))
    assert sorted(await texts(store, tea, "harvest", "plums")) == ["a harvest of plums", "harvest"]


async def test_weights_of_columns_decide_the_order(store, tea):
    await store.append(tea, [record("long story", title="harvest"), record("harvest", title="story")], source("two"))
    title = await texts(store, tea, "harvest", weights=(50, 0.1, 0.1, 0.1, 0.1))
    summary = await texts(store, tea, "harvest", weights=(0.1, 50, 0.1, 0.1, 50))
    assert (title, summary) == (["long story", "harvest"], ["harvest", "long story"])
    assert sorted(await texts(store, tea, "harvest", weights=(-1, 1, 1, 1, 1))) == ["harvest", "long story"]


@pytest.mark.parametrize("weight", [1e-5, 1e-12, -1e-7, 1e17, 1e300, math.inf, -math.inf, math.nan])
async def test_any_number_is_a_weight(store, tea, weight):
    assert sorted(await texts(store, tea, "harbour", "naïve", weights=(weight,) * 5)) == [TEXTS[2], TEXTS[6]]


def literal(reader: apsw.Connection, keywords: list[str]) -> set[str]:
    """Which texts hold the tokens of a phrase side by side; read with the tokenizer alone, without any query."""
    porter = reader.fts5_tokenizer("porter")

    def tokens(text: str) -> list[str]:
        utf8 = text.encode("utf-8", "replace")
        found = porter(utf8, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
        return [instance(str, token) for token in found]

    def holds(text: str, phrase: str) -> bool:
        wanted, there = tokens(phrase), tokens(text)
        return bool(wanted) and any(there[at : at + len(wanted)] == wanted for at in range(len(there)))

    cleaned = [keyword.replace("-", " ").replace("\0", " ") for keyword in keywords]
    found = {text for text in TEXTS if any(holds(text, phrase) for phrase in cleaned)}
    words = [word for phrase in cleaned for word in phrase.split()]
    return found or {text for text in TEXTS if any(holds(text, word) for word in words)}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A connection over TEXTS, and nothing else."""
    discussion = Discussion(root=tmp_path_factory.mktemp("texts"), id="tea")
    store = SqliteRecordStore()
    asyncio.run(store.append(discussion, [record(text) for text in TEXTS], source("one")))
    connection = connected(file_of(discussion))
    install(connection)
    yield connection
    connection.close()


def assert_is_literal(reader, *keywords):
    assert {one.text for one in search(SqliteSql(reader), keywords, 100, ())} == literal(reader, list(keywords))


@pytest.mark.slow
def test_every_text_of_one_or_two_characters_is_searched_for_literally(reader):
    printable = [chr(code) for code in range(32, 127)]
    for first in ["", *printable]:
        for second in printable:
            assert_is_literal(reader, first + second)


@pytest.mark.parametrize(
    "keyword",
    [
        '"', '""', '" OR "', "*", "te*", "NEAR(", "NEAR(green tea, 2)", "AND", "OR", "NOT", "green AND tea",
        "title:tea", "col:x", "{title summary} : tea", "^likes", "-tea", "+", "tea\0OR", "\0", "a" * 100_000,
        "tea " * 20_000,         "😀", "\ud800", "café", "(", ")", "((", "'; DROP TABLE memories; --", "\\", "%",
        "\x7f\x01", "\ufeff tea",
    ],
)  # fmt: skip
def test_no_keyword_is_syntax(reader, keyword):
    assert_is_literal(reader, keyword)
    assert_is_literal(reader, keyword, "harbour")


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=12) | st.text(alphabet=string.punctuation + "tea ", max_size=12), max_size=5))
def test_any_keywords_are_searched_for_literally(reader, keywords):
    assert_is_literal(reader, *keywords)


VOCABULARY = np.array([f"w{n}" for n in range(400)])


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A thousand records of words that are common and rare as in a language."""
    rng = np.random.default_rng(7)
    shares = 1 / np.arange(1, len(VOCABULARY) + 1)
    drawn = rng.choice(len(VOCABULARY), size=(1000, 24), p=shares / shares.sum())
    records = [
        record(" ".join(VOCABULARY[row[: 8 + n % 12]]), " ".join(VOCABULARY[row[20:]])) for n, row in enumerate(drawn)
    ]
    discussion = Discussion(root=tmp_path_factory.mktemp("many"), id="tea")
    store = SqliteRecordStore()
    asyncio.run(store.append(discussion, records, source("one")))
    connection = connected(file_of(discussion))
    install(connection)
    yield connection
    connection.close()


def plainly(connection, keywords, weights):
    """What FTS5 itself gives: every row that is found and its score."""
    expression = " OR ".join(f'"{keyword}"' for keyword in dict.fromkeys(keywords))
    rank_by = f"bm25({', '.join(map(str, weights))})"
    return dict(
        connection.execute(
            "SELECT rowid, rank FROM memories_fts WHERE memories_fts MATCH ? AND rank MATCH ?", (expression, rank_by)
        )
    )


WORD = st.integers(0, len(VOCABULARY) - 1).map(lambda n: f"w{n}") | st.integers(0, 12).map(lambda n: f"w{n}")
PHRASE = WORD | st.tuples(WORD, WORD).map(" ".join)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.lists(PHRASE, min_size=1, max_size=8),
    st.integers(1, 12),
    st.sampled_from([(), (1, 2, 0.5, 0, 3), (10, 1, 1, 1, 1)]),
)
def test_the_best_are_those_of_the_plain_query(many, keywords, limit, weights):
    plain = plainly(many, keywords, weights)
    if not plain:
        return
    found = [one.id for one in search(SqliteSql(many), keywords, limit, weights)]
    assert len(found) == len(set(found)) == min(limit, len(plain))
    # words in more than half of the records may decide between rows that are equal without them, and nothing else
    assert [plain[row] for row in found] == pytest.approx(sorted(plain.values())[:limit], abs=1e-4)
