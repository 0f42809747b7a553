"""Facts of turns in German, French, Spanish, Italian, Portuguese and Dutch, kept as said by the offline model.

The turns stand in a file for each language: what is kept of them, turns of which nothing is kept, and pairs of facts
of which the later one replaces or contradicts the earlier one.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from mnemoir.memory.facts.decide.shapes import LANGUAGES, language
from mnemoir.providers.llm.offline.decide import decide
from mnemoir.providers.llm.offline.extract import extract
from tests.stages import staged


def facts(*turns: str) -> list[str]:
    said = [{"role": "user", "text": turn} for turn in turns]
    found: list[str] = extract({"conversation_date": "2026-03-04", "turns": said})["facts"]
    return found


def events(memory: str, fact: str) -> list[str]:
    answer = decide({"memories": [{"id": "0", "text": memory}], "facts": [fact]})
    return [entry["event"] for entry in answer["memory"]]


@pytest.fixture(params=LANGUAGES)
def turns(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The turns of one language, with its code."""
    text = (Path(__file__).parent / "turns" / f"{request.param}.toml").read_text(encoding="utf-8")
    return {"code": request.param, **tomllib.loads(text)}


def test_statements_about_oneself_are_kept_as_said(turns):
    assert {turn: facts(turn) for turn, *_ in turns["kept"]} == {turn: kept for turn, *kept in turns["kept"]}


def test_a_turn_of_one_statement_is_kept_whole(turns):
    assert {turn: facts(turn) for turn in turns["whole"]} == {turn: [turn.rstrip(".")] for turn in turns["whole"]}


def test_questions_moods_quotes_and_hypotheses_give_no_fact(turns):
    assert [turn for turn in turns["nothing"] if facts(turn)] == []


def test_a_language_has_at_least_forty_turns_of_each_sort(turns):
    assert min(len(turns["kept"]), len(turns["nothing"])) >= 40


def test_a_statement_is_read_alike_by_every_language_that_has_a_shape_for_it(turns):
    for _, *kept in turns["kept"]:
        for fact in kept:
            readings = {code: reading for code in LANGUAGES if (reading := language(code).read(fact))}
            assert turns["code"] in readings
            assert len({(reading.key, reading.denies) for reading in readings.values()}) == 1


def test_another_value_of_an_attribute_replaces_the_earlier_one(turns):
    wanted = {pair[0]: ["UPDATE"] for pair in turns["replaced"]}
    assert {pair[0]: events(*pair) for pair in turns["replaced"]} == wanted


def test_a_denial_closes_the_statement_that_it_denies(turns):
    wanted = {pair[0]: ["ADD", "DELETE"] for pair in turns["opposed"]}
    assert {pair[0]: events(*pair) for pair in turns["opposed"]} == wanted


def test_what_one_person_no_longer_does_leaves_what_another_does():
    assert events("Meine Schwester wohnt in Graz", "Ich wohne nicht mehr in Graz") == ["ADD"]
    assert events("Ma sœur est végétarienne", "Je ne suis plus végétarien") == ["ADD"]


def test_a_turn_of_several_sentences_gives_one_fact_for_each_clause():
    turn = "Hallo! Ich heiße Jana und bin Lehrerin, weil ich Kinder mag. Kannst du mir helfen? Ich hasse Oliven."
    assert facts(turn) == ["Ich heiße Jana", "Ich bin Lehrerin", "Ich hasse Oliven"]


def test_other_languages_give_no_fact():
    turns = ("Mieszkam w Krakowie.", "Jag bor i Malmö.", "Ich bin", "Я живу в Москве.", "我住在上海。")
    assert facts(*turns) == []


@pytest.mark.parametrize(
    "piece", staged(["seit ", "und ich ", "je suis ", "muy ", "jeden ", "non ", "e ", "ik woon in "], quick=1)
)
def test_nonsense_in_any_language_is_read_in_bounded_time(piece):
    facts("Ich wohne " + piece * 5_000, "Je mange " + piece * 5_000, "Vivo " + piece * 5_000)
