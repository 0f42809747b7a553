"""Relative days in statements of the six languages other than English, said on Monday, 4 March 2024."""

from datetime import date

import pytest

from mnemoir.providers.llm.offline.days import with_days
from mnemoir.providers.llm.offline.extract import facts_of

MONDAY = date(2024, 3, 4)
RESOLVED = [
    ("Ich habe morgen einen Zahnarzttermin", "Ich habe am 2024-03-05 einen Zahnarzttermin"),
    ("Ich fliege übermorgen nach Rom", "Ich fliege am 2024-03-06 nach Rom"),
    ("Ich wohne seit gestern in Graz", "Ich wohne seit 2024-03-03 in Graz"),
    ("J'ai un rendez-vous demain matin", "J'ai un rendez-vous le 2024-03-05"),
    ("Je pars à Rome après-demain", "Je pars à Rome le 2024-03-06"),
    ("Aujourd'hui j'ai 30 ans", "Le 2024-03-04 j'ai 30 ans"),
    ("Tengo una cita mañana por la mañana", "Tengo una cita el 2024-03-05"),
    ("Tengo una cita pasado mañana", "Tengo una cita el 2024-03-06"),
    ("Ho un appuntamento domani", "Ho un appuntamento il 2024-03-05"),
    ("Vivo a Graz da ieri", "Vivo a Graz da 2024-03-03"),
    ("Tenho uma consulta amanhã", "Tenho uma consulta em 2024-03-05"),
    ("Moro em Graz desde ontem", "Moro em Graz desde 2024-03-03"),
    ("Ik heb morgen een afspraak", "Ik heb op 2024-03-05 een afspraak"),
    ("Ik woon sinds gisteren in Graz", "Ik woon sinds 2024-03-03 in Graz"),
]
BESIDE = [
    ("Ich fliege nächste Woche nach Rom", "Ich fliege nächste Woche (gesagt am 2024-03-04) nach Rom"),
    ("Ich habe in drei Wochen Urlaub", "Ich habe in drei Wochen (gesagt am 2024-03-04) Urlaub"),
    (
        "Ich habe mir letzte Woche ein Fahrrad gekauft",
        "Ich habe mir letzte Woche (gesagt am 2024-03-04) ein Fahrrad gekauft",
    ),
    ("J'ai un examen la semaine prochaine", "J'ai un examen la semaine prochaine (dit le 2024-03-04)"),
    ("Tengo un examen la semana que viene", "Tengo un examen la semana que viene (dicho el 2024-03-04)"),
    ("Ho un esame la settimana prossima", "Ho un esame la settimana prossima (detto il 2024-03-04)"),
    ("Tenho um exame na próxima semana", "Tenho um exame na próxima semana (dito em 2024-03-04)"),
    ("Ik heb vorige week een fiets gekocht", "Ik heb vorige week (gezegd op 2024-03-04) een fiets gekocht"),
    ("Ik heb volgende week een examen", "Ik heb volgende week (gezegd op 2024-03-04) een examen"),
]
UNCHANGED = [
    "Ich esse jeden Morgen Müsli",
    "Ich wohne hier in Graz",
    "Ik eet elke morgen havermout",
    "Trabajo por la mañana",
    "Gioco a tennis ogni sabato",
    "Vado in palestra tutti i martedì",
    "Je joue au tennis tous les samedis",
    "Hoy en día vivo en Graz",
    "J'habite à Graz depuis 2019",
]


@pytest.mark.parametrize(("said", "kept"), RESOLVED)
def test_a_word_for_one_day_becomes_that_day(said, kept):
    assert facts_of(said, MONDAY) == [kept]


@pytest.mark.parametrize(("said", "kept"), BESIDE)
def test_all_else_that_is_relative_has_the_day_of_the_talk_beside_it(said, kept):
    assert facts_of(said, MONDAY) == [kept]


@pytest.mark.parametrize("said", UNCHANGED)
def test_what_is_no_day_stays_as_it_was_said(said):
    assert facts_of(said, MONDAY) == [said]


def test_a_day_beyond_the_calendar_stays_in_words():
    assert with_days("Ich habe morgen einen Zahnarzttermin", date.max) == "Ich habe morgen einen Zahnarzttermin"
