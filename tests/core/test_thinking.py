"""Removal of thinking from answers, whole and in pieces."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.thinking import ThinkingFilter, ThinkingRule, remove_thinking, without_thinking
from tests.workflows.replies.splitting import joined, pieces

RULE = ThinkingRule(start_tag="<think>", end_tag="</think>", grace_characters=5)
CLOSING = ThinkingRule(start_tag="<think>", end_tag="</think>", only_closing_tag=True)
SINGLE = ThinkingRule(start_tag="(", end_tag=")")
SAME = ThinkingRule(start_tag="||", end_tag="||")

ROWS = [
    (RULE, "", ""),
    (RULE, "<think>why</think>So.", "So."),
    (RULE, "Hm, <think>why</think>So.", "Hm, So."),
    (RULE, "Hmmm,<think>why</think>So.", "Hmmm,So."),
    (RULE, "Hmmmm,<think>why</think>So.", "Hmmmm,<think>why</think>So."),
    (RULE, "<ThInK>why</THINK>So.", "So."),
    (RULE, "<think>why", "<think>why"),
    (RULE, "ok <THINK>why</thin", "ok <THINK>why</thin"),
    (RULE, "<think>a</think>b<think>c</think>", "b<think>c</think>"),
    (RULE, "<think>a<think>b</think>c</think>d", "c</think>d"),
    (RULE, "</think>a<think>b", "</think>a<think>b"),
    (RULE, "<thi", "<thi"),
    (RULE, "<t<think>a</think>b", "<tb"),
    (RULE, "no tag at all", "no tag at all"),
    (RULE, "short", "short"),
    (CLOSING, "", ""),
    (CLOSING, "why</think>So.", "So."),
    (CLOSING, "why</THINK>So.</think>", "So.</think>"),
    (CLOSING, "no tag at all", "no tag at all"),
    (CLOSING, "why</thi", "why</thi"),
    (SINGLE, "(why)So. (And)", "So. (And)"),
    (SAME, "|||why||So.", "So."),
    (SAME, "a|why||x||b", "a|whyb"),
]


@pytest.mark.parametrize(("rule", "said", "shown"), ROWS)
def test_thinking_is_removed_from_a_whole_answer(rule, said, shown):
    assert remove_thinking(said, rule) == shown


@pytest.mark.parametrize(("rule", "said", "shown"), ROWS)
def test_thinking_is_removed_from_an_answer_in_any_pieces(rule, said, shown):
    for parts in pieces(said):
        assert joined(ThinkingFilter(rule), parts) == shown, parts


@given(
    st.lists(st.sampled_from([*"<>/thinkTHINK a\nİſ", "<think>", "</think>", "<THINK>", "</Think>"]), max_size=40),
    st.integers(-2, 20),
    st.booleans(),
)
def test_pieces_give_the_same_text_as_the_whole_answer(parts, grace, closing):
    rule = ThinkingRule(start_tag="<think>", end_tag="</think>", grace_characters=grace, only_closing_tag=closing)
    assert joined(ThinkingFilter(rule), parts) == remove_thinking("".join(parts), rule)


@pytest.mark.parametrize("tag", ["[.*]", "(?:x", "\\d+", "^$", "💭"])
def test_tags_are_no_patterns(tag):
    rule = ThinkingRule(start_tag=tag, end_tag=tag[::-1])
    assert remove_thinking(f"a{tag}why{tag[::-1]}b", rule) == "ab"
    assert remove_thinking("a 12 x b", rule) == "a 12 x b"


def test_text_before_a_possible_tag_is_passed_on_at_once():
    stream = ThinkingFilter(ThinkingRule(start_tag="<think>", end_tag="</think>"))
    shown = [stream.feed(part) for part in ["Hello", " <t", ">you", "<", "think>why"]]
    assert shown == ["Hello", " ", "<t>you", "", ""]


def test_the_answer_passes_once_the_tag_can_no_longer_begin_in_time():
    stream = ThinkingFilter(RULE)
    assert (stream.feed("twelve char<"), stream.passes) == ("twelve char<", True)


def test_the_answer_passes_behind_the_thinking():
    stream = ThinkingFilter(RULE)
    assert (stream.feed("<think>why"), stream.passes) == ("", False)
    assert (stream.feed("</think>So"), stream.passes) == ("So", True)
    assert (stream.feed("<think>"), stream.end()) == ("<think>", "")


def test_text_passed_on_is_the_same_object():
    stream, piece = ThinkingFilter(RULE), "a piece that is longer than any tag may be away"
    stream.feed(piece)
    assert stream.feed(piece) is piece


def test_thinking_without_an_end_is_held_once():
    stream = ThinkingFilter(CLOSING)
    piece = "thought " * 100
    tracemalloc.start()
    try:
        for _ in range(2000):
            stream.feed(piece)
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()
    assert len(stream.end()) == 2000 * len(piece)


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("So.", "So."),
        ("\n<think>why</think>\n\nSo.\n", "So."),
        ("<Thinking>why</Thinking> So.", "So."),
        ("why</think>So.", "So."),
        ("why</thinking> So.", "So."),
        ("<think>why", ""),
        (" <thinking>why</think>So.", "So."),
        ("A tag <think> that is spoken of", "A tag <think> that is spoken of"),
        ("x" * 200 + "<think>why</think>", "x" * 200 + "<think>why</think>"),
    ],
)
def test_the_usual_thinking_before_an_answer_is_removed_without_a_setting(written, answer):
    assert without_thinking(written) == answer


@pytest.mark.slow
def test_a_mebibyte_of_tags_costs_no_more_than_its_length():
    assert without_thinking("<think>" * 2**17) == ""
