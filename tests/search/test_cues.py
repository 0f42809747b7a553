"""Cues: who said it, and when."""

from datetime import date

import pytest

from mnemoir.search.cues import Calendar, Span, address, named_spans

WEDNESDAY = Calendar(today=date(2026, 1, 21), years=range(2024, 2026))


def spans(query: str) -> list[tuple[str, str]]:
    return [(span.first.isoformat(), span.last.isoformat()) for span in named_spans(query, WEDNESDAY)]


def test_a_named_participant_turns_the_question_into_the_first_person() -> None:
    found = address("What does Caroline do in her free time?", ["Caroline", "Melanie"])
    assert (found.names, found.spoken) == (("Caroline",), "What do I do in my free time?")
    assert "Caroline" not in found.bare


def test_a_possessive_becomes_my() -> None:
    assert address("What is Tim's hobby?", ["Tim"]).spoken == "What is my hobby?"


def test_a_first_name_is_enough() -> None:
    assert address("where does caroline live", ["Caroline Smith"]).names == ("Caroline Smith",)


def test_a_name_inside_a_word_is_not_a_name() -> None:
    assert address("What about Timbuktu?", ["Tim"]).names == ()


def test_a_name_that_is_a_common_word_needs_its_capital() -> None:
    assert address("what will it be", ["Will"]).names == ()
    assert address("what does Will like", ["Will"]).names == ("Will",)


def test_a_name_in_a_script_without_spaces_is_found() -> None:
    assert address("小明喜欢什么", ["小明"]).names == ("小明",)


def test_a_question_that_names_nobody_stays_as_it_is() -> None:
    query = "Which of  his books"
    assert address(query, ["Ann"]).spoken == query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("on 8 May 2025", [("2025-05-08", "2025-05-08")]),
        ("on May 8th, 2025", [("2025-05-08", "2025-05-08")]),
        ("on 2025-05-08", [("2025-05-08", "2025-05-08")]),
        ("on 5/8/2025", [("2025-05-08", "2025-05-08"), ("2025-08-05", "2025-08-05")]),
        ("on the 3rd of June", [("2024-06-03", "2024-06-03"), ("2025-06-03", "2025-06-03")]),
        ("in February 2024", [("2024-02-01", "2024-02-29")]),
        ("in May", [("2024-05-01", "2024-05-31"), ("2025-05-01", "2025-05-31")]),
        ("in the winter of 2024", [("2024-12-01", "2025-02-28")]),
        ("last summer", [("2025-06-01", "2025-08-31")]),
        ("in 2025", [("2025-01-01", "2025-12-31")]),
        ("yesterday", [("2026-01-20", "2026-01-20")]),
        ("the day before yesterday", [("2026-01-19", "2026-01-19")]),
        ("this morning", [("2026-01-21", "2026-01-21")]),
        ("two weeks ago", [("2026-01-04", "2026-01-10")]),
        ("3 days ago", [("2026-01-18", "2026-01-18")]),
        ("in the past two months", [("2025-11-22", "2026-01-21")]),
        ("last week", [("2026-01-12", "2026-01-18")]),
        ("last weekend", [("2026-01-17", "2026-01-18")]),
        ("last month", [("2025-12-01", "2025-12-31")]),
        ("last year", [("2025-01-01", "2025-12-31")]),
        ("last Friday", [("2026-01-16", "2026-01-16")]),
        ("last Wednesday", [("2026-01-14", "2026-01-14")]),
        ("may I march on", []),
        ("30 February 2025", []),
        ("9999 years ago", []),
        ("no date at all", []),
    ],
)
def test_a_date_expression_names_its_range(query: str, expected: list[tuple[str, str]]) -> None:
    assert spans(query) == expected


def test_a_span_holds_both_its_ends() -> None:
    assert named_spans("today", WEDNESDAY) == [Span(date(2026, 1, 21), date(2026, 1, 21))]
