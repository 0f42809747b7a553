"""Pictures that go along with a prompt."""

import pytest

from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from mnemoir.workflows.prompting.images import images_of, with_images, without_images

ONE, TWO, THREE = (ImagePart(url=f"https://a.example/{number}.png") for number in (1, 2, 3))
WORDS = TextPart(text="Look")
TALK = [
    Message(role="user", parts=(WORDS, ONE, TWO)),
    text_message("assistant", "Nice."),
    Message(role="user", parts=(THREE,)),
]


@pytest.mark.parametrize(
    ("most", "found"),
    [(0, [ONE, TWO, THREE]), (1, [THREE]), (2, [TWO, THREE]), (9, [ONE, TWO, THREE]), (-1, [ONE, TWO, THREE])],
)
def test_the_newest_pictures_are_found_oldest_first(most, found):
    assert images_of(TALK, most) == found


def test_pictures_are_taken_out_and_words_stay():
    assert without_images(TALK) == [
        Message(role="user", parts=(WORDS,)),
        text_message("assistant", "Nice."),
        Message(role="user"),
    ]


def test_pictures_go_behind_the_words_of_the_last_user():
    sent = with_images([text_message("user", "a"), text_message("user", "b"), text_message("assistant", "c")], [ONE])
    assert [message.parts for message in sent] == [
        (TextPart(text="a"),),
        (TextPart(text="b"), ONE),
        (TextPart(text="c"),),
    ]


def test_without_a_user_an_empty_message_carries_the_pictures():
    asked = text_message("system", "Describe.")
    assert with_images([asked], [ONE, TWO]) == [asked, Message(role="user", parts=(ONE, TWO))]


def test_without_pictures_nothing_is_added():
    assert with_images([text_message("system", "S")], []) == [text_message("system", "S")]
