"""Messages in other languages than English are found by what they mean, with the models that are built in."""

import apsw
import pytest

from mnemoir.providers.embedding import multilingual_model
from tests.server.conversation_targets import at, begin, of

GERMAN = [
    "Meine Katze schläft den ganzen Tag.",
    "Der Zug nach Graz hat schon wieder Verspätung.",
    "Ich esse kein Fleisch.",
]
ENGLISH = ["My cat sleeps all day long.", "The train to Graz is late again.", "I eat no meat."]


async def keep(server, *texts):
    await begin(server, "c", *texts)
    await server.post(of("c", "/flush"), None)


async def found(server, q: str) -> list[str]:
    """The texts that a search finds, best first."""
    return [one["message"]["content"] for one in (await server.get(at("/search", q=q)))["results"]]


def second_vectors(server) -> int:
    """How many messages of all users have a second vector."""
    counts = []
    for file in (server.parts.settings.storage.data_dir / "conversations").rglob("*.vectors.db"):
        connection = apsw.Connection(str(file))
        counts.append(connection.execute("SELECT count(*) FROM second_vectors").get)
        connection.close()
    return sum(counts)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Warum kommt die Bahn zu spät?", GERMAN[1]),
        ("Which animal rests so much?", GERMAN[0]),
        ("¿Es vegetariana?", GERMAN[2]),
    ],
)
async def test_a_question_in_any_served_language_finds_the_message(open_server, question, expected):
    server = await open_server({})
    await keep(server, *GERMAN)
    assert (await found(server, question))[0] == expected
    assert second_vectors(server) == len(GERMAN)


async def test_english_messages_have_no_second_vector_and_load_no_model(open_server, monkeypatch):
    monkeypatch.setattr(multilingual_model, "_loaded", [])
    server = await open_server({})
    await keep(server, *ENGLISH)
    assert (await found(server, "a resting kitten"))[0] == ENGLISH[0]
    assert (second_vectors(server), multilingual_model._loaded) == (0, [])


async def test_only_what_is_not_english_has_one(open_server):
    server = await open_server({})
    await keep(server, ENGLISH[0], GERMAN[1], ENGLISH[2])
    assert second_vectors(server) == 1
    assert (await found(server, "Welche Verbindung ist unpünktlich?"))[0] == GERMAN[1]


async def test_it_goes_with_its_message(open_server):
    server = await open_server({})
    await keep(server, *GERMAN)
    await server.ask("DELETE", of("c"))
    assert second_vectors(server) == 0
    assert await found(server, "Katze") == []


async def test_without_the_model_messages_are_found_by_words(open_server):
    def damaged():
        raise OSError("weights.npz is damaged")

    server = await open_server({})
    server.parts.upkeep.further_vectors[0]._embedding._load = damaged
    await keep(server, *GERMAN)
    assert (await found(server, "Katze schläft"))[0] == GERMAN[0]
    assert second_vectors(server) == 0


async def test_off_keeps_none(open_server):
    server = await open_server({"embedding.multilingual": "off"})
    await keep(server, *GERMAN)
    assert second_vectors(server) == 0
