"""The map of memories over the API: groups with their words, what stays near, what is new, and what has no place."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from mnemoir.search.indexing import fact_passage, unpack_vector
from mnemoir.search.maps import maps
from tests.narrowing import present
from tests.server.server_kit import Server, succeeded

TOPICS = {
    "bread": ["Bakes rye bread on Saturdays", "Keeps a sourdough starter for bread", "Sells bread to the neighbours"],
    "cello": ["Plays the cello", "Has cello lessons on Wednesdays", "Bought new strings for the cello"],
    "bees": ["Keeps a hive of bees", "Feeds the bees before the frost", "The bees stand behind the rhubarb"],
}
GONE = {"embedding.provider": "openai", "embedding.base_url": "http://127.0.0.1:9/v1", "embedding.model": "gone"}
FACTS = [fact for facts in TOPICS.values() for fact in facts]


async def remember(server: Server, facts: list[str], user: str = "mira") -> None:
    now = datetime.now(UTC)
    lines = [
        {"memory": fact, "user_id": user, "created_at": (now - timedelta(days=at)).isoformat()}
        for at, fact in enumerate(facts)
    ]
    succeeded(await server.ask("POST", "/api/import", "\n".join(map(json.dumps, lines)).encode()))


@pytest.mark.parametrize("backend", ["sqlite", pytest.param("file", marks=pytest.mark.slow)])
async def test_a_map_puts_alike_memories_into_a_group_and_names_it_by_its_words(open_server, tmp_path, backend):
    server = await open_server({"storage.backend": backend, "storage.workspace_root": str(tmp_path / "workspace")})
    await remember(server, FACTS)
    drawn = await server.get("/api/memories/mira/map")
    assert (drawn["total"], drawn["without_vector"], drawn["left_out"]) == (9, 0, 0)
    assert {point["memory"] for point in drawn["points"]} == set(FACTS)
    group_of = {point["memory"]: point["group"] for point in drawn["points"]}
    for word, facts in TOPICS.items():
        (group,) = {group_of[fact] for fact in facts}
        assert drawn["groups"][group]["words"][0] == word
        assert drawn["groups"][group]["count"] == 3
    for point in drawn["points"]:
        circle = drawn["groups"][point["group"]]
        assert np.hypot(point["x"] - circle["x"], point["y"] - circle["y"]) <= circle["radius"] + 1e-3
        assert abs(point["x"]) <= 1 >= abs(point["y"])
    assert await server.get("/api/memories/mira/map") == drawn


async def test_what_is_new_goes_to_its_group_and_moves_nothing(open_server):
    server = await open_server()
    await remember(server, FACTS)
    before = {point["id"]: (point["x"], point["y"]) for point in await points(server)}
    await remember(server, ["Restores an old cello bow"])
    after = {point["id"]: (point["x"], point["y"]) for point in await points(server)}
    assert {id: place for id, place in after.items() if id in before} == before
    drawn = await server.get("/api/memories/mira/map")
    new = next(point for point in drawn["points"] if "bow" in point["memory"])
    assert "cello" in drawn["groups"][new["group"]]["words"]
    gone = next(iter(before))
    succeeded(await server.ask("DELETE", f"/api/memories/{gone}?user_id=mira"))
    assert gone not in {point["id"] for point in await points(server)}


async def test_conditions_leave_points_out_and_move_none(open_server):
    server = await open_server()
    await remember(server, FACTS)
    before = {point["memory"]: (point["x"], point["y"]) for point in await points(server)}
    drawn = await server.get("/api/memories/mira/map?q=cello")
    assert {point["memory"] for point in drawn["points"]} == set(TOPICS["cello"])
    assert all(before[point["memory"]] == (point["x"], point["y"]) for point in drawn["points"])
    assert (drawn["total"], [group["count"] for group in drawn["groups"]]) == (3, [3])
    past = (datetime.now(UTC) - timedelta(days=4, hours=1)).isoformat().replace("+00:00", "Z")
    assert (await server.get(f"/api/memories/mira/map?at={past}"))["total"] == 4


async def test_nothing_one_memory_and_odd_texts_have_a_map(open_server):
    server = await open_server()
    empty = {"points": [], "groups": [], "total": 0, "without_vector": 0, "left_out": 0}
    assert await server.get("/api/memories/nobody/map") == empty
    await remember(server, ["Likes tea"], "one")
    (point,) = await points(server, "one")
    assert (point["memory"], point["group"]) == ("Likes tea", 0)
    odd = ["x" * 10_000, "🎻🎻🎻", "\u202eשלום עולם", "مرحبا", "?", "12345", "同じ言葉"]
    await remember(server, odd, "odd")
    drawn = await server.get("/api/memories/odd/map")
    assert drawn["total"] == len(odd) == len(drawn["points"]) + drawn["without_vector"]
    assert max(len(point["memory"]) for point in drawn["points"]) == 200


@pytest.mark.slow
async def test_memories_without_a_vector_are_counted_and_have_no_place(open_server):
    server = await open_server(GONE)
    await remember(server, FACTS)
    drawn = await server.get("/api/memories/mira/map")
    assert (drawn["points"], drawn["total"], drawn["without_vector"]) == ([], 9, 9)


async def test_of_more_than_a_map_shows_those_recalled_come_first_then_the_newest(open_server, monkeypatch):
    monkeypatch.setattr(maps, "MOST_PLACED", 4)
    server = await open_server()
    await remember(server, FACTS)
    chat = {"model": "mnemoir", "user": "mira", "conversation_id": "talk", "history": "server", "memoryEnabled": True}
    asked = {
        "messages": [{"role": "user", "content": "Where do the bees stand, behind the rhubarb?"}],
        "stream": False,
    }
    await server.post("/v1/chat/completions", chat | asked)
    drawn = await server.get("/api/memories/mira/map")
    recalled = {point["memory"] for point in drawn["points"] if point["recalls"] == 1}
    assert FACTS[-1] in recalled
    assert (len(drawn["points"]), drawn["left_out"], drawn["total"]) == (4, 5, 9)
    newest = [fact for fact in FACTS if fact not in recalled][: 4 - len(recalled)]
    assert {point["memory"] for point in drawn["points"]} == recalled | set(newest)


@pytest.mark.slow
async def test_of_the_ten_nearest_at_least_a_fifth_stay_near_in_the_picture(open_server):
    server = await open_server()
    succeeded(await server.ask("POST", "/api/sample"))
    drawn = await points(server, "sample")
    assert len(drawn) == 200
    embedded = await server.parts.memory.indexing.entries(
        [fact_passage(point["memory"]) for point in drawn],
    )
    vectors = np.stack([unpack_vector(present(entry.vector)) for entry in embedded])
    places = np.array([(point["x"], point["y"]) for point in drawn])
    assert kept_near(vectors, places) >= 0.2


async def points(server: Server, user: str = "mira") -> list[dict]:
    drawn = await server.get(f"/api/memories/{user}/map")
    return list(drawn["points"])


def kept_near(vectors: np.ndarray, places: np.ndarray) -> float:
    """The share of each one's ten nearest by cosine that are among its ten nearest in the picture."""
    alike = vectors @ vectors.T
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(alike, -np.inf)
    np.fill_diagonal(apart, np.inf)
    near, shown = np.argsort(-alike, axis=1)[:, :10], np.argsort(apart, axis=1)[:, :10]
    return float(
        np.mean([len({*one} & {*other}) / 10 for one, other in zip(near.tolist(), shown.tolist(), strict=True)])
    )
