"""The hashes that identify a message."""

import hashlib

import pytest

from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from mnemoir.core.text import hashes


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("text", ["m1 ", "", "Grüße\n", "User: hi"])
def test_a_text_is_hashed_as_it_is_untrimmed(text):
    assert hashes(text_message("user", text)) == (sha256(text),)


def test_the_role_is_no_part_of_the_hash():
    assert hashes(text_message("user", "ok")) == hashes(text_message("assistant", "ok"))


def test_a_text_with_braces_is_known_by_three_hashes_and_written_by_the_newest():
    assert hashes(text_message("user", "a {b}")) == (
        sha256("a __WILMER_L_CURLY__b__WILMER_R_CURLY__"),
        sha256("a {b}"),
        sha256("a |{{|b|}}|"),
    )


def test_pictures_without_a_text_are_hashed_in_any_order():
    pictures = [ImagePart(url="data:image/png;base64,BBBB"), ImagePart(url="data:image/png;base64,AAAA")]
    joined = "data:image/png;base64,AAAAdata:image/png;base64,BBBB"
    assert hashes(Message(role="user", parts=pictures)) == (sha256(joined),)
    assert hashes(Message(role="user", parts=pictures[::-1])) == (sha256(joined),)


def test_a_picture_beside_a_text_is_no_part_of_the_hash():
    parts = (TextPart(text="look"), ImagePart(url="https://pictures.example/a.png"))
    assert hashes(Message(role="user", parts=parts)) == (sha256("look"),)


def test_a_lone_surrogate_can_be_hashed():
    assert len(hashes(text_message("user", "\ud800"))[0]) == 64
