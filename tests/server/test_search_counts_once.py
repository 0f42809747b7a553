"""A search over HTTP gives facts that say the same in other words once, the fullest of them."""

import pytest

from tests.server.server_kit import Server

SAME = ["Lives in Graz", "Resides in Graz", "Lives in Graz, near the river"]
FULLEST = SAME[-1]


async def remember_all(server: Server) -> list[str]:
    """The ids of the facts, in order."""
    ids = [f"mem_{at:024x}" for at in range(len(SAME) + 1)]
    for at, (name, text) in enumerate(zip(ids, [*SAME, "Has a dog called Rex"], strict=True), start=1):
        made = f"2026-03-{at:02}T09:15:00.000Z"
        record = {"id": name, "memory": text, "user_id": "mira", "created_at": made, "updated_at": made}
        assert (await server.ask("POST", "/api/import", record)).status == 200
    return ids


async def found(server: Server, **more: object) -> list[str]:
    body = {"query": "Which town does she live in?", "user_id": "mira", **more}
    return [hit["memory"] for hit in (await server.post("/api/memories/search", body))["results"]]


@pytest.mark.parametrize(
    "conditions", [{}, {"kind": "fact"}, {"since": "2026-03-01"}, {"q": "Graz"}, {"max_tokens": 800}]
)
async def test_one_fact_in_other_words_takes_one_place(server: Server, conditions: dict[str, object]) -> None:
    await remember_all(server)
    assert [text for text in await found(server, limit=4, **conditions) if text in SAME] == [FULLEST]


async def test_the_places_of_those_left_out_go_to_others(server: Server) -> None:
    await remember_all(server)
    assert await found(server, limit=2) == [FULLEST, "Has a dog called Rex"]


async def test_of_those_that_meet_the_conditions_the_fullest_is_given(server: Server) -> None:
    await remember_all(server)
    assert [text for text in await found(server, until="2026-03-03") if text in SAME] == [SAME[0]]


@pytest.mark.parametrize("hidden", ["with", None])
async def test_memories_named_one_by_one_or_hidden_ones_are_all_given(server: Server, hidden: str | None) -> None:
    ids = await remember_all(server)
    conditions = {"hidden": hidden} if hidden else {"id": ids[:3]}
    assert {*SAME} <= {*await found(server, limit=5, **conditions)}


PARAPHRASES = {
    "dog": ["Has a dog named Rex", "Dog is called Rex", "Dog is named Rex", "Name of the dog is Rex"],
    "sister": ["Sister Anna works at Norlin", "Anna, the sister, works at Norlin"],
    "engineer": ["Works at Bosch as an engineer", "Is an engineer at Bosch", "Works as an engineer at Bosch"],
    "allergies": ["Has a nut allergy", "Is allergic to nuts", "Has an allergy to nuts"],
}


@pytest.mark.parametrize("query", PARAPHRASES)
async def test_what_duplicates_offers_as_one_fact_takes_one_place(server: Server, query: str) -> None:
    same, made = PARAPHRASES[query], "2026-03-01T09:15:00.000Z"
    for text in [
        *same,
        "Plays chess",
        "Has a son named Tim",
        "Brother Tom works at Norlin",
        "Is at Bosch on Mondays",
    ]:
        record = {"memory": text, "user_id": "mira", "created_at": made}
        assert (await server.ask("POST", "/api/import", record)).status == 200
    groups = (await server.get("/api/memories/duplicates?user_id=mira"))["results"]
    assert [sorted(one["memory"] for one in group["memories"]) for group in groups] == [sorted(same)]
    texts = await found(server, query=query, limit=20)
    assert (len(texts), len([text for text in texts if text in same])) == (5, 1)
