"""Whatever requests change, search follows the links of names that an index built afresh would have."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from mnemoir.core.scope import Scope
from mnemoir.memory.names.reading import names_of, possible_names
from mnemoir.ports.search_rows import SearchSnapshot
from mnemoir.search.index import ScopeIndex
from mnemoir.search.links.walk import walk
from tests.narrowing import instance
from tests.server.server_kit import JSON, Server, succeeded

MIRA = Scope(project="default", user="mira")
MEMORIES = "/api/memories"
STEPS = 48
TURNS = [
    "My sister is called Anna.",
    "My sister is called Berta.",
    "My dog is called Rex.",
    "Meine Schwester heißt Anna.",
    "My brother Tom works at Norlin.",
    "I moved to Graz.",
    "I moved to Linz.",
    "I work at Norlin.",
]
TEXTS = [
    "Anna works at Norlin",
    "Sister is called Berta",
    "Arbeitet bei Norlin in Graz",
    "Likes tea",
    "Rex bites Tom",
]
QUESTIONS = ["Where does my sister work?", "Wo arbeitet Anna?", "Who works at Norlin in Graz?", "Who bites Tom?"]


class Client:
    """One user's requests over HTTP, each with what chance names. What a request may refuse, it refuses with 4xx."""

    def __init__(self, server: Server, chance: random.Random) -> None:
        self._server = server
        self._chance = chance
        self.done: set[str] = set()

    async def step(self, name: str) -> None:
        """Make one change; nothing where it has nothing to change."""
        if await getattr(self, name)():
            self.done.add(name)

    async def learn(self) -> bool:
        return await self._change("POST", MEMORIES, {"user_id": "mira", "messages": self._said(TURNS)})

    async def keep(self) -> bool:
        body = {"user_id": "mira", "messages": self._said(TEXTS), "infer": False}
        return await self._change("POST", MEMORIES, body)

    async def edit(self) -> bool:
        body = {"memory": self._chance.choice(TEXTS)}
        return await self._change_one("PATCH", await self._ids(), "?user_id=mira", body)

    async def delete(self) -> bool:
        return await self._change_one("DELETE", await self._ids(), "?user_id=mira")

    async def restore(self) -> bool:
        rows = [row for change in await self._changes() for row in change["rows"] if row["event"] == "DELETE"]
        return await self._change_one("POST", [row["memory_id"] for row in rows], "/restore?user_id=mira", {})

    async def merge(self) -> bool:
        ids = await self._ids()
        if len(ids) < 2:
            return False
        chosen = self._chance.sample(ids, 2)
        body: JSON = {"user_id": "mira", "ids": chosen, "keep": chosen[0]}
        if self._chance.random() < 0.5:
            body["memory"] = self._chance.choice(TEXTS)
        return await self._change("POST", f"{MEMORIES}/merge", body)

    async def undo(self) -> bool:
        ids = [change["id"] for change in await self._changes()]
        return await self._change_one("POST", ids, "/undo?user_id=mira", None, f"{MEMORIES}/changes")

    async def approve(self) -> bool:
        return await self._judge("approve")

    async def refuse(self) -> bool:
        return await self._judge("refuse")

    async def review(self) -> bool:
        body = {"review": self._chance.choice(["all", "changes", "off"])}
        return await self._change("PUT", f"{MEMORIES}/settings", body)

    async def find(self) -> list[JSON]:
        """The results for a question; they bring the index up to date."""
        body = {"query": self._chance.choice(QUESTIONS), "user_id": "mira", "limit": 10}
        return list((await self._server.post(f"{MEMORIES}/search", body))["results"])

    async def _judge(self, verdict: str) -> bool:
        waiting = (await self._server.get(f"{MEMORIES}/proposals?user_id=mira"))["results"]
        ids = [proposal["id"] for proposal in waiting]
        return await self._change_one("POST", ids, f"/{verdict}?user_id=mira", None, f"{MEMORIES}/proposals")

    async def _change_one(
        self, method: str, ids: list[str], end: str, body: object = None, of: str = MEMORIES
    ) -> bool:
        return bool(ids) and await self._change(method, f"{of}/{self._chance.choice(ids)}{end}", body)

    async def _change(self, method: str, target: str, body: object) -> bool:
        answer = await self._server.ask(method, target, body)
        assert answer.status in (200, 404, 409), (method, target, body, answer.body)
        return answer.status == 200

    async def _ids(self) -> list[str]:
        listed = succeeded(await self._server.ask("GET", f"{MEMORIES}/mira"))["results"]
        return [memory["id"] for memory in listed]

    async def _changes(self) -> list[JSON]:
        return list((await self._server.get(f"{MEMORIES}/changes?user_id=mira"))["results"])

    def _said(self, texts: list[str]) -> list[JSON]:
        return [{"role": "user", "content": self._chance.choice(texts)}]


CHANGES = ["edit", "delete", "restore", "merge", "undo", "approve", "refuse"]
GROWTH = ["learn", "learn", "learn", "keep"]


@pytest.mark.slow
@pytest.mark.costly("each of many requests is answered, and the index compared behind it")
@pytest.mark.parametrize("seed", [3, 8, 9])  # with these every kind of change is done
async def test_links_are_those_of_a_fresh_index_after_any_requests(open_server, seed):
    server = await open_server({"embedding.multilingual": "off"})
    chance = random.Random(seed)
    client = Client(server, chance)
    for at in range(STEPS):
        await client.step("review" if at % 8 == 0 else chance.choice(GROWTH if at % 2 else CHANGES))
        await client.find()
        kept, fresh, texts_with_names = await server.parts.memory.store.reading(lambda view: compared(server, view))
        assert texts_with_names
        assert kept == fresh
    assert client.done == {*CHANGES, *GROWTH, "review"}


def compared(server: Server, view: SearchSnapshot) -> tuple[object, object, bool]:
    """What search follows, what a fresh index has, and whether each row has the names of its text."""
    rows = view.rows_since(MIRA, -1)
    memories = view.memories(MIRA, [row.seq for row in rows])
    recall = server.parts.memory.facts._recall
    fresh = ScopeIndex(recall._embedding.name, recall._embedding.dimension)
    fresh.put(rows)
    with recall._residents.index(view, MIRA) as index:
        followed = links_of(instance(ScopeIndex, index))
    return followed, links_of(fresh), all(row.entry.names == names_of(memories[row.seq]) for row in rows)


def links_of(index: ScopeIndex) -> tuple[Mapping[int, list[int]], list[Any]]:
    """The names of each living row, and the ways of some questions over them, in seqs."""
    slots = index.alive.nonzero()[0]
    keys, place = index.names.of(slots)
    names = {int(index.seqs[slot]): keys[place == at].tolist() for at, slot in enumerate(slots)}
    ways = [walk(index.names, index.alive, possible_names(question), []) for question in QUESTIONS]
    by_seq = [
        sorted(zip(index.seqs[way.slots].tolist(), way.worth.round(9).tolist(), way.by.tolist(), strict=True))
        for way in ways
    ]
    return names, [*by_seq, [way.skipped for way in ways]]
