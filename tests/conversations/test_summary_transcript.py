"""Transcript lines for a summariser, and the shortening of a summary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.windows.counters import CHARS4, HEURISTIC, TokenCounter
from mnemoir.conversations.windows.strategies.transcript import shortened_summary, summary_message, transcript_line
from mnemoir.core.conversations import MediaPart, Message, TextPart, ToolCall


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (Message("user", "  two\n\nlines "), "user: two lines"),
        (Message("assistant", None), ""),
        (
            Message("assistant", "so", [ToolCall("1", "find", {"q": "käse"})]),
            'assistant: so [calls find with {"q": "käse"}]',
        ),
        (Message("tool", "x" * 501, tool_call_id="1", name="find"), f"tool find: {'x' * 500}…"),
        (Message("tool", "x" * 500, tool_call_id="1"), f"tool: {'x' * 500}"),
        (Message("user", [MediaPart(type="image", filename="a.png"), TextPart("look")]), "user: look [image a.png]"),
    ],
)
def test_a_message_is_one_line(message: Message, line: str) -> None:
    assert transcript_line(message, str) == line


@pytest.mark.parametrize(
    ("text", "tokens", "short"),
    [
        ("All of it.", 20, "All of it."),
        ("First one. Second one. Third.", 10, "First one. Second one."),
        ("第一句。第二句。第三句很长很长很长。", 6, "第一句。第二句。"),
        ("No end in sight at all", 6, "No end in"),
        ("x", 3, ""),
        ("  ", 9, ""),
    ],
)
def test_a_summary_is_cut_behind_its_last_sentence_that_fits(text: str, tokens: int, short: str) -> None:
    assert shortened_summary(text, tokens, CHARS4) == short


@given(st.text(max_size=300), st.integers(-5, 120), st.sampled_from([CHARS4, HEURISTIC]))
def test_a_cut_summary_is_a_beginning_of_it_within_the_measure(text: str, tokens: int, counter: TokenCounter) -> None:
    short = shortened_summary(text, tokens, counter)
    assert text.strip().startswith(short)
    assert not short or counter.count([summary_message(short)]) <= tokens
