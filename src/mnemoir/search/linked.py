"""The last stage of a search of memories: statements that hang together with the question by names.

They may take the last places of the results (`search.links.walk`). The first ones stay as they are, and so does a
whole result whose best has nothing to do with the question.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from mnemoir.core.memories import Hit
from mnemoir.search.candidates import Ranked, Rows, best_order
from mnemoir.search.index import Mask
from mnemoir.search.links.walk import BEST, RANK, Walk, places_of, walk
from mnemoir.search.ranking import Ranking, Stages

LINKS = "links"
_RANKED = 500  # the places of so many candidates are told apart: sorting all of 10,000 takes half of the time
_MOST = 64  # linked results


class NameReader(Protocol):
    """What reads names in texts."""

    def possible_names(self, question: str) -> Sequence[int]:
        """The keys of what may be a name in a question."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A linked row, and the key of the name that led there."""

    row: Ranked
    by: int


def linked_rows(
    ranking: Ranking, asked: Sequence[int], found: Mask, limit: int, threshold: float, stages: Stages
) -> list[Linked]:
    """Rows, among those that may be found, that hang together with the names asked for, or with the best results.

    Those of the greatest worth first, by how well they rank without links; [] with the reason in the report.
    """
    if not places_of(limit):
        stages.skip(LINKS, "too few results are asked for")
        return []
    best = ranking.scored.rows[ranking.order[:BEST]]
    if len(best) and not ranking.marks.likely[best[0]]:
        stages.skip(LINKS, "the best result is unlikely")
        return []
    with stages.run(LINKS):
        way = walk(ranking.index.names, found, asked, best.tolist())
        linked = _best_results(ranking, way, limit + places_of(limit), threshold) if len(way.slots) else []
    if way.skipped:
        stages.skip(LINKS, way.skipped)
    return linked


def _best_results(ranking: Ranking, way: Walk, most: int, threshold: float) -> list[Linked]:
    scored, index = ranking.scored, ranking.index
    place = np.full(len(index), min(len(scored.rows), _RANKED))
    first = scored.rows[best_order(index, scored, _RANKED)[:_RANKED]] if len(scored.rows) else scored.rows
    place[first] = np.arange(len(first))
    value = way.worth / (RANK + place[way.slots])
    order: Rows = np.lexsort((-index.seqs[way.slots], -value))[: min(most, _MOST)]
    rows = ranking.results_of(way.slots[order])
    return [
        Linked(replace(row, is_likely=True, signals={**row.signals, "linked": round(float(worth), 4)}), int(key))
        for row, worth, key in zip(rows, way.worth[order], way.by[order], strict=True)
        if row.score >= threshold
    ]


def with_linked_hits(hits: Sequence[Hit], linked: Sequence[Hit], limit: int) -> list[Hit]:
    """At most `limit` hits, the last places of which are given to linked ones that are not among the first."""
    places = places_of(limit)
    head = list(hits[: limit - places])
    seen = {hit.memory.id for hit in head}
    fresh = [hit for hit in linked if hit.memory.id not in seen][:places]
    if not fresh:
        return list(hits[:limit])
    seen |= {hit.memory.id for hit in fresh}
    rest = [hit for hit in hits[len(head) :] if hit.memory.id not in seen]
    least = min((hit.score for hit in head), default=1.0)
    tail = [replace(hit, score=min(hit.score, least)) for hit in [*fresh, *rest][: limit - len(head)]]
    return [*head, *sorted(tail, key=lambda hit: -hit.score)]
