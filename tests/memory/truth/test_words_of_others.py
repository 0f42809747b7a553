"""What is passed on, quoted, asked in a test or said in jest, in seven languages: it teaches and closes nothing.

In `words_of_others.txt` a bar is a line end. Behind "=>" stand the facts of a neighbour that is the user's own.
"""

from pathlib import Path

import pytest

from tests.each_case import check_each
from tests.memory.truth.test_readings import learned

LINES = Path(__file__).with_name("words_of_others.txt").read_text(encoding="utf-8").splitlines()
AT_A_TIME = 10  # the patterns of a language are made when it is first read, which takes a while
CLOSED_NOTHING = [
    ("I live in Graz.", "Forwarded message:\nFrom: Tom\n\nHi, I moved to Leeds. Cheers Tom", "Lives in Graz"),
    ("I live in Graz.", "Cover letter draft by my student:\nI live in Bonn.", "Lives in Graz"),
    ("I work at Bosch.", "Tweet I saw: i quit my job and live in a van", "Works at Bosch"),
    ("I live in Graz.", "As Johnny Cash sang, I live in Nashville.", "Lives in Graz"),
    ("Ich wohne in Graz.", "Aufgabe: Ich habe 5 Äpfel und wohne in Köln.", "Ich wohne in Graz"),
    ("I live in Graz.", "Haha fooled you! I moved to Mars.", "Lives in Graz"),
    ("I'm vegan.", "Just joking, I'm not vegan.", "Is vegan"),
    ("I'm not pregnant.", "April fools! I'm pregnant.", "Is not pregnant"),
    ("My name is Anna.", "Hi, I'm Spartacus! (movie quote)", "Name is Anna"),
]


@pytest.mark.parametrize("first", range(0, len(LINES), AT_A_TIME))
def test_each_text_gives_the_facts_beside_it_and_else_none(first):
    def gives(line):
        text, _, facts = line.partition(" => ")
        assert learned(text) == [fact for fact in facts.split(" ; ") if fact]

    check_each(LINES[first : first + AT_A_TIME], gives)


@pytest.mark.parametrize(("first", "later", "current"), CLOSED_NOTHING)
async def test_what_others_say_and_what_is_said_in_jest_closes_nothing(live, first, later, current):
    life = live()
    await life.tell(first)
    await life.tell(later)
    assert await life.now() == [current]


def test_an_opening_joke_ends_with_its_paragraph():
    assert learned("April fools! I'm pregnant.||I live in Graz.") == ["Lives in Graz"]
    assert learned("I'm pregnant. April fools! I live in Graz. Just kidding! I have a dog.") == ["Has a dog"]
