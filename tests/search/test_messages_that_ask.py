"""Messages that ask count less, and the message behind one of them, which answers it, more."""

from dataclasses import replace

import numpy as np
import pytest

from mnemoir.core.sentences import asking_share
from mnemoir.search.cues import address
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.ranking import Query, Stages, rank
from mnemoir.search.terms import own_terms, terms_and_forms_of, terms_and_mark_of, terms_of
from mnemoir.search.weights import Weights
from tests.search.listed_rows import fact, message
from tests.search.test_recall import MIRA, NOW, Notebook

ASKS = (
    "Where did you buy the green tea?",
    "Wo hast du den grünen Tee gekauft? Und wann?",
    "Où as-tu acheté le thé vert ?",
    "¿Dónde compraste el té verde?",
    "Dove hai comprato il tè verde?",
    "Onde compraste o chá verde?",
    "Waar heb je de groene thee gekocht?",
    "你在哪里买的绿茶？",
)
TELLS = (
    "I bought the green tea in Graz.",
    "Den grünen Tee habe ich in Graz gekauft.",
    "J'ai acheté le thé vert à Graz.",
    "Compré el té verde en Graz.",
    "Ho comprato il tè verde a Graz.",
    "Comprei o chá verde em Graz.",
    "De groene thee heb ik in Graz gekocht.",
    "See https://example.com/tea?colour=green for it.",
)


@pytest.mark.parametrize(("asks", "tells"), list(zip(ASKS, TELLS, strict=True)))
def test_a_question_is_told_from_a_statement_in_every_language(asks, tells):
    assert (asking_share(asks), asking_share(tells)) == (1, 0)
    assert 0 < asking_share(f"{tells} {asks}") < 1


@pytest.mark.parametrize("terms", [terms_and_forms_of, terms_and_mark_of])
def test_the_mark_is_no_word_and_stands_behind_the_words(terms):
    assert terms("Is it tea?").startswith(terms_of("Is it tea?"))
    assert own_terms(terms("Is it tea?")) == own_terms(terms_of("Is it tea?")) == 3
    assert terms("It is tea.") == terms_of("It is tea.")
    assert terms("?!") == b""


async def test_a_message_that_only_asks_ranks_behind_one_that_tells_the_same():
    notebook = Notebook()
    await notebook.write(
        message("told", "you bought green tea", conversation="a"),
        message("asked", "you bought green tea?", conversation="b"),
    )
    hits = (await notebook.ask("bought green tea")).hits
    assert [hit.memory.id for hit in hits] == ["told", "asked"]
    assert (hits[0].signals.keys() & {"asks", "answers"}, hits[1].signals["asks"]) == (set(), 1)


async def test_the_message_behind_a_question_gains_by_it():
    notebook = Notebook()
    await notebook.write(
        message("other", "in graz", conversation="b"),
        message("asked", "where is green tea sold?", conversation="a"),
        message("answered", "in graz", conversation="a"),
        message("later", "in graz", conversation="a"),
    )
    hits = {str(hit.memory.id): hit for hit in (await notebook.ask("green tea in graz")).hits}
    assert hits["answered"].score > hits["later"].score
    assert [name for name, hit in hits.items() if "answers" in hit.signals] == ["answered"]


async def test_a_message_long_after_a_question_does_not_answer_it():
    notebook = Notebook()
    await notebook.write(
        message("asked", "where is green tea sold?", at="2026-01-10T12:00:00Z"),
        message("next day", "tea in graz", at="2026-01-11T12:00:00Z"),
    )
    assert not any("answers" in hit.signals for hit in (await notebook.ask("green tea")).hits)


async def test_a_fact_with_a_question_mark_keeps_its_score():
    notebook = Notebook()
    await notebook.write(fact("f", "drinks green tea?"))
    assert "asks" not in (await notebook.ask("green tea")).hits[0].signals


async def test_scores_are_the_same_whichever_rows_a_filter_leaves():
    notebook = Notebook()
    await notebook.write(
        message("asked", "where is green tea sold?"), message("answered", "green tea in graz"), message("m", "tea")
    )

    def scores(index: ScopeIndex, among: Mask | None) -> dict[int, float]:
        query = replace(asked, among=among)
        return {row.seq: row.score for row in rank(index, query, index.alive.copy(), Weights(), Stages())}

    asked = Query(
        text="green tea",
        addressed=address("green tea", ()),
        embedding=None,
        asked_at=NOW,
        limit=5,
        threshold=0.0,
        codes=lambda seqs: {},
    )
    with notebook.recall._residents.index(notebook.store, MIRA) as index:
        every = scores(index, None)
        assert scores(index, index.seqs == 2) == {2: every[2]}
        assert scores(index, np.isin(index.seqs, [1, 3])) == {seq: every[seq] for seq in (1, 3)}
