"""Words of other languages are compared by their stems there, and English questions notice nothing of it."""

import numpy as np
import pytest

from mnemoir.core.memories import IndexEntry
from mnemoir.core.scope import Scope
from mnemoir.search.index import ScopeIndex
from mnemoir.search.scores import word_scores
from mnemoir.search.terms import own_terms, query_terms, read_terms, terms_and_forms_of, terms_of
from tests.search.listed_rows import ListedRows, fact

MIRA = Scope(project="p", user="mira")
TEXTS = [
    "Hat drei Bücher geschrieben",
    "Lives with Marie in Graz",
    "Habite à Lyon avec Marie",
    "고양이가 두 마리 있다",
]


def index_of(*texts: str, terms=terms_and_forms_of) -> ScopeIndex:
    rows, index = ListedRows(), ScopeIndex("model", None)
    for number, text in enumerate(texts):
        rows.add(MIRA, fact(f"f{number}", text), IndexEntry(terms=terms(text)))
    index.put(rows.rows_since(MIRA, -1))
    return index


def found(question: str, language: str, *texts: str) -> list[str]:
    index = index_of(*texts)
    scores = word_scores(index, query_terms(question, language), index.alive)
    return [text for text, score in zip(texts, scores.item.tolist(), strict=True) if score]


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("de", "Welches Buch?", "Hat zwei Bücher geschrieben"),
        ("fr", "Où travaillait-elle ?", "A travaillé à Lyon"),
        ("es", "¿Qué come?", "Comía mucha carne"),
        ("it", "Quali gatti ha?", "Ha un gatto grigio"),
        ("pt", "Que livro escreveu?", "Escreveu três livros"),
        ("nl", "Welke boeken leest hij?", "Leest elke week een boek"),
        ("pl", "Jakie ma koty?", "Ma dwa koty i psa"),
        ("tr", "Hangi kitapları okudu?", "Her hafta bir kitap okuyor"),
        ("ru", "Какая у неё собака?", "Есть две собаки"),
        ("ar", "أي كتاب قرأت؟", "قرأت الكتاب"),
        ("ko", "고양이를 키우나요?", "고양이가 두 마리 있다"),
    ],
)
def test_a_word_is_found_in_another_form_of_its_language(language, question, text):
    assert found(question, language, text, "Das", "не", "Vegetarian?") == [text]


def test_stop_words_are_those_of_the_language():
    assert found("Wann war die Hochzeit?", "de", "War in Rom", "Hochzeit im Mai") == ["Hochzeit im Mai"]
    assert found("Who has war medals?", "en", "Fought in the war") == ["Fought in the war"]
    assert found("Qu'est-ce qu'elle aime ?", "fr", "L'aviron, c'est dur") == []


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru", "tr", "und", ""])
def test_a_name_is_found_whatever_the_language_of_question_and_fact(language):
    assert found("Marie?", language, *TEXTS) == TEXTS[1:3]


@pytest.mark.parametrize("question", ["Who has books?", "Where does Marie live?", "Hat bucher", "고양이가?"])
def test_other_forms_change_no_digit_of_an_english_question(question):
    plain, formed = index_of(*TEXTS, terms=terms_of), index_of(*TEXTS)
    terms = query_terms(question)
    before, after = (word_scores(index, terms, index.alive) for index in (plain, formed))
    assert np.array_equal(before.item, after.item)
    assert np.array_equal(before.window, after.window)
    assert before.known == after.known


def test_english_texts_are_stored_without_other_forms():
    for text in ("Lives with her sister in Graz", "Plays chess", "", "12 + 30"):
        assert terms_and_forms_of(text) == terms_of(text)


def test_other_forms_stand_behind_the_words_and_do_not_count_as_words():
    stored, plain = terms_and_forms_of(TEXTS[0]), terms_of(TEXTS[0])
    assert stored.startswith(plain)
    assert own_terms(stored) == len(read_terms(plain)) == 4 < len(read_terms(stored))
    assert index_of(TEXTS[0]).lengths.tolist() == [4]


def test_a_word_counts_once_in_a_row_that_holds_several_of_its_forms():
    index = index_of("Buch", "Bücher, Buch", "Katze")
    terms = query_terms("Bücher", "de")
    assert terms.shape == (1, 3)
    scores = word_scores(index, terms, index.alive)
    assert scores.known == 1.0
    assert scores.item[1] > 0 == scores.item[2]
