"""A hundred and forty everyday sentences in seven languages, written before any of them was run.

In `fresh_sentences.txt` half are to be learned: each of the words behind "=>" (";" between them) stands in a memory,
and no memory has none of them. The others are to leave no memory. The sentences stay as they were written; behind
them the kinds were mended, so others of those kinds stand here.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemoir.core.text import normalise
from tests.each_case import check_each
from tests.memory.truth.test_readings import learned
from tests.memory.truth.test_unseen_sentences import outcome

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
OTHERWISE = {  # all but one leave a second memory that is true, too
    "Ich bin gelernte Schreinerin, arbeite aber inzwischen als Lehrerin in Gießen.": 2,
    "Je suis menuisière de formation mais je travaille comme institutrice à Nancy.": 2,
    "Estudié carpintería, pero ahora trabajo de maestra en Huesca.": 2,
    "Sono falegname di formazione, ma lavoro come maestra a Lecce.": 2,
    "Sou carpinteira de formação, mas trabalho como professora em Viseu.": 2,
    "Desde que me operaron de la rodilla voy a nadar todos los martes.": 0,
}
LEARNED = {
    "Letztes Jahr haben wir uns ein Haus in Kiel gekauft.": "Kiel",
    "L'an dernier nous avons acheté une maison à Nantes.": "Nantes",
    "Ayer compré una bicicleta nueva.": "bicicleta",
    "Ieri abbiamo comprato una macchina.": "macchina",
    "Ontem comprei um carro.": "carro",
    "Vorige week hebben we een auto gekocht.": "auto",
    "Por la mañana tomo siempre té verde.": "té",
    "Di solito a cena bevo acqua.": "acqua",
    "Ao jantar bebo sempre água.": "água",
    "I often get migraines.": "migraines",
    "I suffer from hay fever.": "hay",
    "Can't eat gluten, so no pasta.": "gluten",
    "Can't stand olives.": "olives",
    "We've been married for ten years.": "married",
    "We've been living in Bath since May.": "Bath",
    "After the move I row every morning.": "rows",
    "Our daughter Ida started kindergarten.": "Ida",
    "Onze zoon Jip zit op voetbal.": "Jip",
}
NOT_LEARNED = """
Can't do Monday, sorry.
Can't do it today.
Can't stand it.
I get sick of waiting.
I get seasick of your jokes lol
We've been waiting for you.
We've been thinking about it.
Since the update I get an error.
After the meeting I want a coffee.
A colazione prendo nota.
El año pasado compramos pan.
Ayer compré leche.
D'après ma voisine, je suis végétarienne.
De acuerdo con mi horóscopo, soy aventurera.
Stando a mia zia, vivo a Roma.
De acordo com a minha tia, moro em Faro.
Nach Ansicht meiner Tante bin ich Vegetarier.
Nach Meinung meines Chefs wohne ich in Berlin.
"""


def rows(language: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Each sentence with the words of each memory that is to come of it."""
    heading = ""
    for line in Path(__file__).with_name("fresh_sentences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            heading = line.removeprefix("# ")
        elif heading.split()[0] == language:
            said, _, wanted = line.partition(" => ")
            yield said, [normalise(words).split() for words in wanted.split(" ; ")] if wanted else []


def is_as_wanted(found: list[str], wanted: list[list[str]]) -> bool:
    """True where each group of words stands in a memory, and each memory has a group."""
    texts = [normalise(text) for text in found]
    told = [[text for text in texts if all(word in text for word in words)] for words in wanted]
    return all(told) and {text for of in told for text in of} == set(texts)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_fresh_sentences_leave_what_they_should(live, language):
    facts, others = live().facts, {}
    given = list(rows(language))
    for at, (said, wanted) in enumerate(given):
        found = await outcome(facts, f"{language}-{at}", [said])
        if not is_as_wanted(found, wanted):
            others[said] = len(found)
    assert len(given) == 20
    assert others == {said: count for said, count in OTHERWISE.items() if said in dict(given)}


def test_others_of_these_kinds_are_learned():
    def is_learned(said, word):
        assert [fact for fact in learned(said) if word.lower() in fact.lower()] == learned(said) != []

    check_each(LEARNED.items(), is_learned)


def test_what_is_only_like_them_is_not_learned():
    def is_empty(said):
        assert learned(said) == []

    check_each(NOT_LEARNED.strip().splitlines(), is_empty)
