"""Recall quality on LoCoMo: the share of the messages with the answer among the first ten hits.

Every turn of a conversation is stored verbatim as a message with its speaker and time; every question of categories 1
to 4 that names its evidence is used. No language model is involved, and the figures are deterministic.

`python -m bench.recall [FILE]` compares words, vectors and the product's default. `--tune` searches for better
weights by changing one at a time, up and down, and keeping improvements; it prints them and changes no file. Tune
on development conversations only.
"""

import argparse
import asyncio
import json
import math
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.report import median, ms, table
from mnemoir.core.clock import to_text
from mnemoir.core.errors import ProviderUnavailable
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Add, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.core.text import CONTEXT_MESSAGES
from mnemoir.ports.embedding import Embedding, EmbeddingModel, Passage
from mnemoir.ports.memory_store import Visible
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.search import Indexing, Question, Recall
from mnemoir.search.weights import Weights
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database

DATA = Path(__file__).parents[1] / "../shared/data/locomo-dev.json"
DEPTH = 10

BATCH = 64
ASKED_AT = datetime(2024, 6, 1, tzinfo=UTC)
VECTORS_ONLY = Weights(first={"vector": 1.0}, final={"vector": 1.0})
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation; `id` is unique within the conversation."""

    id: str
    session: int
    speaker: str
    said_at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuestion:
    """A question and the ids of the turns with its answer."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation of LoCoMo, with its turns in order and its questions."""

    name: str
    turns: Sequence[Turn]
    asked: Sequence[RecallQuestion]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Means over all questions in percent, and the median seconds of a search."""

    recall: float
    hit: float
    ndcg: float
    search_s: float

    @property
    def goal(self) -> float:
        """The objective of tuning: recall and nDCG with weight 1, hit with weight 0.5."""
        return self.recall + self.ndcg + self.hit / 2


class CachedEmbedding:
    """An embedding model with a cache of passages; `is_down` simulates an outage, so that search uses words only."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        self._known: dict[Passage, Embedding] = {}
        self.is_down = False

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def dimension(self) -> int | None:
        return self._model.dimension

    @property
    def reads_context(self) -> bool:
        return self._model.reads_context

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        if self.is_down:
            raise ProviderUnavailable("switched off for this measurement")
        missing = [passage for passage in dict.fromkeys(passages) if passage not in self._known]
        for passage, embedding in zip(missing, await self._model.embed(missing), strict=True):
            self._known[passage] = embedding
        return [self._known[passage] for passage in passages]

    async def warm(self) -> None:
        await self._model.warm()

    async def aclose(self) -> None:
        await self._model.aclose()


def run() -> None:
    """Print the table, or a line when the data set is missing."""
    _main(DATA, tune=False)


def read(path: Path) -> list[Conversation]:
    """The conversations of a file in LoCoMo's published format."""
    return [_conversation(sample) for sample in json.loads(path.read_text("utf-8"))]


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    turns = list(_turns(sample["conversation"]))
    known = {turn.id for turn in turns}
    asked = [
        RecallQuestion(text=item["question"].strip(), evidence=evidence)
        for item in sample["qa"]
        if item["category"] != 5 and (evidence := _evidence(item, known))
    ]
    return Conversation(name=sample["sample_id"], turns=turns, asked=asked)


def _turns(body: Mapping[str, Any]) -> Iterator[Turn]:
    for number in sorted(int(key[8:]) for key in body if _SESSION.fullmatch(key)):
        when = datetime.strptime(body[f"session_{number}_date_time"].strip(), "%I:%M %p on %d %B, %Y")
        for raw in body[f"session_{number}"]:
            caption = f" [shares an image: {raw['blip_caption']}]" if raw.get("blip_caption") else ""
            yield Turn(
                id=raw["dia_id"],
                session=number,
                speaker=raw["speaker"],
                said_at=when.replace(tzinfo=UTC),
                text=raw["text"].strip() + caption,
            )


def _evidence(item: Mapping[str, Any], known: set[str]) -> frozenset[str]:
    named = _EVIDENCE.findall(" ".join(item.get("evidence") or []))
    return frozenset(f"D{int(session)}:{int(turn)}" for session, turn in named) & known


async def store_turns(store: SqlMemoryStore, indexing: Indexing, conversation: Conversation) -> None:
    """Store each turn as a memory, embedded with the turns before it as context."""
    turns = conversation.turns
    for start in range(0, len(turns), BATCH):
        batch = range(start, min(start + BATCH, len(turns)))
        entries = await indexing.with_vectors([_passage(turns, at) for at in batch])
        changes = [
            Add(memory=_memory(conversation, turns[at]), entry=e) for at, e in zip(batch, entries, strict=True)
        ]
        await store.commit(_scope(conversation), changes, Provenance(reason="verbatim"))


def _passage(turns: Sequence[Turn], at: int) -> Passage:
    before = [turn.text for turn in turns[max(0, at - CONTEXT_MESSAGES) : at] if turn.session == turns[at].session]
    return Passage(text=turns[at].text, context=" ".join(before))


def _memory(conversation: Conversation, turn: Turn) -> Memory:
    return Memory(
        id=MemoryId(f"{conversation.name}/{turn.id}"),
        text=turn.text,
        user=conversation.name,
        created_at=to_text(turn.said_at),
        kind="message",
        role="user",
        speaker=turn.speaker,
    )


def _scope(conversation: Conversation) -> Scope:
    return Scope(project="locomo", user=conversation.name)


async def measured(recall: Recall, conversations: Sequence[Conversation]) -> Quality:
    """The quality over all questions of all conversations."""
    figures, took = [], []
    for conversation in conversations:
        for asked in conversation.asked:
            started = time.perf_counter()
            question = Question(text=asked.text, limit=DEPTH, asked_at=ASKED_AT)
            result = await recall.search(_scope(conversation), question, Visible(now=ASKED_AT))
            took.append(time.perf_counter() - started)
            figures.append(ranking_figures([hit.memory.id.partition("/")[2] for hit in result.hits], asked.evidence))
    recalls, hits, gains = (100 * sum(column) / len(figures) for column in zip(*figures, strict=True))
    return Quality(recall=recalls, hit=hits, ndcg=gains, search_s=median(took))


def ranking_figures(ranked: Sequence[str], evidence: frozenset[str]) -> tuple[float, float, float]:
    """Recall, hit and nDCG of one ranking at DEPTH."""
    places = [place for place, key in enumerate(ranked) if key in evidence]
    gain = sum(1 / math.log2(place + 2) for place in places)
    best = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(evidence))))
    return len(places) / len(evidence), float(bool(places)), gain / best


async def _compare(store: SqlMemoryStore, model: CachedEmbedding, conversations: Sequence[Conversation]) -> None:
    rows = []
    for name, weights, is_down in (
        ("words", Weights(), True),
        ("vectors", VECTORS_ONLY, False),
        ("default", Weights(), False),
    ):
        model.is_down = is_down
        quality = await measured(Recall(store, model, weights=weights), conversations)
        figures = (f"{figure:.1f}" for figure in (quality.recall, quality.hit, quality.ndcg))
        rows.append((name, *figures, ms(quality.search_s)))
    turns, asked = (
        sum(len(part) for part in parts) for parts in zip(*((c.turns, c.asked) for c in conversations), strict=True)
    )
    title = f"Recall quality (percent): {asked} questions on {turns} messages of {len(conversations)} conversations"
    table(title, ("ranking", f"recall@{DEPTH}", f"hit@{DEPTH}", f"nDCG@{DEPTH}", "search, median"), rows)


async def _tune(store: SqlMemoryStore, model: CachedEmbedding, conversations: Sequence[Conversation]) -> None:
    """Change one weight at a time by a third and a seventh, up and down, until a round brings no improvement."""
    best = Weights()
    goal = (await measured(Recall(store, model, weights=best), conversations)).goal
    improved = True
    while improved:
        improved = False
        for weights in _neighbours(best):
            quality = await measured(Recall(store, model, weights=weights), conversations)
            if quality.goal > goal + 0.05:
                best, goal, improved = weights, quality.goal, True
                print(f"{quality.recall:.2f} / {quality.hit:.2f} / {quality.ndcg:.2f}", dict(best.final), flush=True)
    print("best weights:", json.dumps(asdict(best), indent=2))


def _neighbours(weights: Weights) -> Iterator[Weights]:
    for signal, weight in weights.final.items():
        for factor in (1.33, 0.75, 1.15, 0.87):
            yield replace(weights, final={**weights.final, signal: round(weight * factor, 3)})


async def _measure(path: Path, *, tune: bool) -> None:
    conversations = read(path)
    model = CachedEmbedding(MiniLM())
    with tempfile.TemporaryDirectory() as folder:
        store = SqlMemoryStore(open_database(Path(folder) / "recall.db"))
        try:
            for conversation in conversations:
                await store_turns(store, Indexing(model), conversation)
            await (_tune if tune else _compare)(store, model, conversations)
        finally:
            await store.aclose()
            await model.aclose()


def _main(path: Path, *, tune: bool) -> None:
    if not path.exists():
        print(f"\nRecall quality: skipped, there is no {path.name} beside this checkout.")
        return
    asyncio.run(_measure(path, tune=tune))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", nargs="?", type=Path, default=DATA)
    options.add_argument("--tune", action="store_true")
    chosen = options.parse_args()
    _main(chosen.file, tune=chosen.tune)
