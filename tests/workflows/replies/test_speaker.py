"""Replies in a group chat: under the name of their speaker, whole and piece by piece."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.workflows.text.reply_cleaning import Cleaning, CleaningStream, clean
from tests.workflows.replies.splitting import joined, pieces

BOB = Cleaning(speaker="Bob:")
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def spoken(reply, stream, cleaning=BOB):
    return joined(CleaningStream(cleaning), list(reply)) if stream else clean(reply, cleaning)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (" Hello.", "Bob: Hello."),
        ("Bob: Hello.", "Bob: Hello."),
        ("Mary Ann: Hello.", "Mary Ann: Hello."),
        ("Dr. O'Neil Jr: Hello.", "Dr. O'Neil Jr: Hello."),
        ("The time is now half past: late.", "Bob: The time is now half past: late."),
        ("12:30 is late.", "Bob: 12:30 is late."),
        ("Yes", "Bob: Yes"),
        ("", ""),
        (" \n", ""),
    ],
)
@WAYS
def test_a_reply_without_a_speaker_gets_the_requested_speaker(reply, told, stream):
    assert spoken(reply, stream) == told


@WAYS
def test_the_name_goes_in_front_of_the_cleaned_reply(stream):
    cleaning = Cleaning(speaker="Bob:", node_beginnings=["Sure, "], trims=True)
    assert spoken("  Sure, I will.", stream, cleaning) == "Bob: I will."


def test_a_reply_is_held_only_until_it_is_known_whether_it_has_a_name():
    stream = CleaningStream(BOB)
    assert [stream.feed(piece) for piece in ("I ", "do ", "not ", "know")] == ["", "", "Bob: I do not ", "know"]
    assert stream.passes_through


def test_a_name_is_recognised_as_soon_as_its_colon_has_come():
    stream = CleaningStream(BOB)
    assert [stream.feed(piece) for piece in ("Mary ", "Ann", ":", " Hi")] == ["", "", "Mary Ann:", " Hi"]


@pytest.mark.parametrize("reply", ["Ann: Hi", "A b c d: no", "I do. Not: this", "  Bob: x"])
def test_a_reply_in_any_pieces_gives_the_same_text(reply):
    whole = clean(reply, BOB)
    assert all(joined(CleaningStream(BOB), parts) == whole for parts in pieces(reply))


@given(st.lists(st.text(alphabet="aB :.'-1\n", max_size=4)))
def test_a_stream_gives_the_same_text_as_the_whole_reply(parts):
    assert joined(CleaningStream(BOB), parts) == clean("".join(parts), BOB)
