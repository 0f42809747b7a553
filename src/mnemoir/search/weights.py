"""Every number that decides a ranking, in one place, with the measurement that set it.

The weights of messages were set one at a time, as `python -m bench.recall --tune` moves them, on the five development
conversations of LoCoMo (2,960 messages, 786 questions) and nothing else; figures are recall@10 / hit@10 / nDCG@10 in
percent. A move of any weight by a sixth changes each figure by less than half a point, so they are round. With them:
words and cues alone 77.7 / 84.2 / 62.0, sentence vectors alone 67.5 / 75.6 / 46.8, everything 86.5 / 93.0 / 70.9.
Questions that name the wrong speaker set the speaker's weight: 0.40 finds 76.9 % of what they ask for, 0.30 86.2 %,
0.20 90.5 %; the last costs real chats half a point.

What was tried and dropped: scaling each signal between its least and greatest value in the result (as good, but then
the best of a bad lot scores 1 and no threshold means anything); smoothing late interaction over neighbours (nothing
gained); item BM25 beside late interaction (nothing gained; it stays for embedders without token vectors).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Without a query vector: words and cues alone.
LEXICAL: Mapping[str, float] = {"words": 0.24, "window": 0.48, "speaker": 0.28, "date": 0.25}
# Before late interaction, and the whole ranking for embedders without token vectors.
FIRST: Mapping[str, float] = {"vector": 0.85, "words": 0.22, "window": 0.20, "speaker": 0.225, "date": 0.22}
# With late interaction.
FINAL: Mapping[str, float] = {"late": 1.44, "vector": 0.10, "window": 0.25, "speaker": 0.30, "date": 0.33}
# Facts, which are a few words each. Late interaction is no help: "she" and "which" never stand in a fact, so it takes
# them for what is asked. With the question's two phrasings, on 150 short facts: see `docs/quality.md`.
FACTS: Mapping[str, float] = {"vector": 0.85, "words": 0.22, "speaker": 0.30, "date": 0.22}


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weights of `search.ranking`; the defaults are those of the product."""

    lexical: Mapping[str, float] = field(default_factory=lambda: LEXICAL)
    first: Mapping[str, float] = field(default_factory=lambda: FIRST)
    final: Mapping[str, float] = field(default_factory=lambda: FINAL)
    facts: Mapping[str, float] = field(default_factory=lambda: FACTS)
    # Up to so many facts of a user are all found; those below the floors are marked as unlikely.
    few_facts: int = 30
    # The number of rows for late interaction: 60 lose half a point, 300 gain nothing.
    late_candidates: int = 120
    # A query is off the subject when no row comes as close as the anchor: then vectors bring in nothing. Once one
    # does, rows down to the least cosine come too: "what should I keep in mind when cooking" is 0.09 from "Allergic
    # to nuts". Measured on everyday facts: the best row of a question about them has 0.18 to 0.59, of an unrelated
    # question 0.07 to 0.18 (once 0.25). One floor of 0.20 for every row costs LoCoMo half a point.
    anchor_cosine: float = 0.14
    least_cosine: float = 0.05
    # For lists that people read, where a row that has nothing to do with the question is a wrong answer and not a
    # spare one: a row without a word of it needs this cosine by itself. Measured with the built-in model on LoCoMo,
    # 12 hits a query: of the rows that answer a question without sharing a word, 90 % are as near (98 % of all that
    # answer stay); of 48 queries about nothing that was said, 13 % find such a row, 0.3 on average, instead of 71 %
    # and 7. At 0.25, 4 % find one, and a quarter of the wordless answers is lost. Late interaction beside it would
    # gain little (8 % for the same answers). Of a model that finds all texts alike, less is left out.
    related_cosine: float = 0.20
    # The same of the multilingual model. Measured on 49 facts in seven languages and questions that share no word
    # with them: of the right facts 71 % are as near, and 1.3 facts for an unrelated request.
    related_multilingual: float = 0.15
    # Cosine of unrelated rows, until a user's own rows say otherwise: it counts as that many of them.
    resting_cosine: float = 0.13
    resting_rows: int = 20
    # The same of the multilingual model. Unrelated facts have .06, but at 0 those below it keep their order.
    resting_multilingual: float = 0.0
    # How much that model counts for an English question about facts: hit@1/3/10 among 50 are 67/91/97 with it, 62/89/
    # 96 at .6, 69/90/96 with the main model alone; .2 to .4 are alike.
    multilingual_share: float = 0.3
    # What a message loses that only asks, and what the next one gains of its score: see `search.asking`.
    asking_loss: float = 0.25
    answering_gain: float = 0.12
    # Late interaction of a row that repeats the query; an unrelated one has about 0.16.
    late_high: float = 0.80
