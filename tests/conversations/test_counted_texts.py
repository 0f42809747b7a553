"""How near the estimate `heuristic` comes to an encoder, over forty texts with recorded counts."""

from collections.abc import Sequence

import pytest

from mnemoir.conversations.windows.counters import HEURISTIC, local_encoding, tiktoken_counter
from mnemoir.core.conversations import Message
from tests.conversations.counted_texts import (
    CJK,
    CODE,
    EMOJI,
    ENGLISH,
    call_messages,
    file_messages,
    messages_of,
)

PER_MESSAGE = 4  # that every counter adds for a message
PER_FILE = 85  # for a file that declares no cost of its own
KINDS = {
    "english": messages_of(ENGLISH),
    "code": messages_of(CODE),
    "cjk": messages_of(CJK),
    "emoji": messages_of(EMOJI),
    "calls": call_messages(),
}


def ratio(counted: Sequence[tuple[Message, int]]) -> float:
    """Of the estimate to the encoder, over all of the messages together."""
    exact = sum(PER_MESSAGE + tokens for _, tokens in counted)
    return HEURISTIC.count([message for message, _ in counted]) / exact


def test_there_are_forty_texts():
    assert sum(map(len, KINDS.values())) + len(file_messages()) == 40


@pytest.mark.parametrize("kind", ["english", "code"])
def test_english_and_code_are_estimated_within_a_quarter(kind):
    assert 0.75 <= ratio(KINDS[kind]) <= 1.25


@pytest.mark.parametrize("text", CJK)
def test_scripts_without_spaces_are_never_a_third_under_the_encoder(text):
    assert ratio(messages_of({text: CJK[text]})) >= 0.7


@pytest.mark.parametrize("kind", KINDS)
def test_no_single_text_is_estimated_at_less_than_three_fifths(kind):
    """The worst are files of settings, markup, and emoji that are joined of several."""
    assert min(ratio([one]) for one in KINDS[kind]) >= 0.6


def test_a_file_costs_a_fixed_number_of_tokens_whatever_its_size():
    (picture, asked), (document, wanted) = file_messages()
    assert HEURISTIC.count_one(picture) - PER_MESSAGE - PER_FILE == pytest.approx(asked, abs=2)
    assert HEURISTIC.count_one(document) - PER_MESSAGE - 1200 == pytest.approx(wanted, abs=2)


@pytest.mark.skipif(local_encoding("o200k_base") is None, reason="the encoding's file is not on this machine")
def test_the_recorded_counts_are_those_of_the_encoder():
    counter = tiktoken_counter("o200k_base")
    for message, tokens in [one for kind in KINDS.values() for one in kind]:
        assert counter.count_one(message) == PER_MESSAGE + tokens
