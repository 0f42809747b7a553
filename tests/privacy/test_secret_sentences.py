"""Sentences that tell a secret, and harmless ones in the same words, in the languages that facts are learned from.

A licence plate, a sort code and a booking code are no secrets: everybody reads the plate, the sort code names a bank,
and a booking is not opened without its name. A discount code pays little and is meant to be passed on. A number of
social security is one, since it opens accounts in some countries.
"""

import time
from collections import Counter
from pathlib import Path

import pytest

from mnemoir.privacy.secret_words import LANGUAGES
from mnemoir.privacy.secrets import holds_secret, repeats_secret, secret_spans, secrets_in, without_secret

SENTENCES = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("secret_sentences.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
MOST_CHARACTERS = 100_000


def test_a_sentence_that_tells_a_secret_is_stopped_in_every_language():
    missed = [(code, text) for code, kind, text in SENTENCES if kind == "secret" and not holds_secret(text)]
    assert missed == []


def test_a_harmless_sentence_in_the_same_words_is_not():
    stopped = [(code, text) for code, kind, text in SENTENCES if kind == "plain" and holds_secret(text)]
    assert stopped == []


def test_each_language_has_twelve_sentences_of_both_kinds():
    counts = Counter((code, kind) for code, kind, _ in SENTENCES)
    few = [(code, kind) for code in LANGUAGES for kind in ("secret", "plain") if counts[code, kind] < 12]
    assert few == []


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("The alarm code is 9917, the gate has 12.", ["9917"]),
        ("My backup codes: 48213-99120, 77120-33418 and 5 more", ["48213-99120, 77120-33418"]),
        ("Wi-Fi password: correct horse battery staple.", ["correct horse battery staple"]),
        ("4821 is my PIN", ["4821"]),
        ("Le code du portail est 25B80.", ["25B80"]),
    ],
)
def test_the_secret_alone_is_found(text, secrets):
    assert [text[start:end] for start, end in secret_spans(text)] == secrets


def test_a_secret_of_a_turn_is_known_again_in_other_words():
    told = secrets_in(["The alarm code is 9917.", "My cat is called Tom."])
    assert repeats_secret("The keypad at home takes 9917", told)
    assert not repeats_secret("Ran 99170 steps", told)
    assert not repeats_secret("The keypad at home takes 9917", secrets_in(["I live at 9917 Elm Street."]))


@pytest.mark.real_time
@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["a", '"', "Name: ", "[", "1", "1 ", "a_", "code ", "key ", "PIN is 1 ", "password is ", "Code, Haus ", "eyJ-"],
)
def test_a_hundred_thousand_characters_are_read_in_two_seconds(piece):
    text = (piece * MOST_CHARACTERS)[:MOST_CHARACTERS]
    began = time.thread_time()
    without_secret(text)
    assert time.thread_time() - began < 2
