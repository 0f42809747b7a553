"""A sentence is cut where somebody else, or something else, is spoken of; two subjects of one verb stay together."""

import pytest

from mnemoir.memory.facts.reading.clauses import clauses_of
from tests.each_case import check_each
from tests.memory.truth.test_readings import learned

CUT = {
    "My wife lives in Oslo and I live in Graz.": ["My wife lives in Oslo", "I live in Graz"],
    "I live in Graz and her sister lives in Oslo.": ["I live in Graz", "her sister lives in Oslo"],
    "I live in Graz and Anna lives in Oslo.": ["I live in Graz", "Anna lives in Oslo"],
    "I love my wife and her cooking.": ["I love my wife and her cooking"],
    "Rosa and her husband live in Rome.": ["Rosa and her husband live in Rome"],
    "I got a kitten, her name is Moth.": ["I got a kitten, her name is Moth"],
    "My blood type is A-, so what can I eat?": ["My blood type is A-", "so what can I eat"],
    "Bin Linkshänder und spiele Geige.": ["Bin Linkshänder", "spiele Geige"],
    "Meine Kombination aus Job und Studium ist hart.": ["Meine Kombination aus Job und Studium ist hart"],
    "Rosa und ihr Mann wohnen in Rom.": ["Rosa und ihr Mann wohnen in Rom"],
    "J'habite à Lyon et ma soeur vit à Nice.": ["J'habite à Lyon", "ma soeur vit à Nice"],
    "Rosa et son mari habitent à Rome.": ["Rosa et son mari habitent à Rome"],
    "Soy de Rosario pero vivo en Bilbao.": ["Soy de Rosario", "vivo en Bilbao"],
    "Rosa y su marido viven en Roma.": ["Rosa y su marido viven en Roma"],
    "Faccio l'idraulico e ho un furgone.": ["Faccio l'idraulico", "ho un furgone"],
    "Rosa e suo marito vivono a Roma.": ["Rosa e suo marito vivono a Roma"],
    "Chamo-me Teresa e sou de Évora.": ["Chamo-me Teresa", "sou de Évora"],
    "Rosa e o seu marido moram em Roma.": ["Rosa e o seu marido moram em Roma"],
    "Ik heet Karin en kom uit Hoorn.": ["Ik heet Karin", "kom uit Hoorn"],
    "Rosa en haar man wonen in Rome.": ["Rosa en haar man wonen in Rome"],
}
TOGETHER = {
    "Anna and I live in Graz.": "Lives in Graz",
    "My wife and I live in Graz.": "Lives in Graz",
    "Me and my wife live in Graz.": "Lives in Graz",
    "My sister Anna and I love hiking.": "Loves hiking",
    "Meine Frau und ich haben zwei Kinder.": "Wir haben zwei Kinder",
    "Anna und ich wohnen in Graz.": "Wir wohnen in Graz",
    "Ma femme et moi, on habite à Lyon.": "On habite à Lyon",
    "Ma femme et moi habitons à Lyon.": "Nous habitons à Lyon",
    "Mi mujer y yo vivimos en Sevilla.": "Vivimos en Sevilla",
    "Mijn vrouw en ik wonen in Gent.": "Wij wonen in Gent",
}


def test_a_sentence_is_cut_into_its_clauses():
    def is_cut(text, clauses):
        assert [clause.text for clause in clauses_of(text)] == clauses

    check_each(CUT.items(), is_cut)


def test_what_holds_for_the_user_and_somebody_else_is_the_users():
    def is_learned(text, fact):
        assert learned(text) == [fact]

    check_each(TOGETHER.items(), is_learned)


@pytest.mark.parametrize("piece", ["Anna and ", "my wife and I ", "and her x is ", "I moved, it's ", ", Ab is"])
def test_nonsense_of_clauses_is_read_in_bounded_time(piece):
    list(clauses_of(piece * (100_000 // len(piece))))
