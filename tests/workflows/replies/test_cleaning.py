"""Answers cleaned as an endpoint and a node ask."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.thinking import ThinkingRule
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.text.reply_cleaning import Cleaning, CleaningStream, clean, cleaning_for
from tests.workflows.replies.splitting import joined, pieces

THINKING = ThinkingRule(start_tag="<think>", end_tag="</think>", grace_characters=8)
ALL = Cleaning(
    thinking=THINKING,
    node_beginnings=("Roland:", "Well,"),
    endpoint_beginnings=("(aside)", "Sure!"),
    timestamp_echo=True,
    assistant_prefix=True,
    trims=True,
)
words = st.sampled_from(
    [
        *" \n<[(RWA",
        "<think>",
        "</think>",
        "why",
        "Roland:",
        "Well,",
        "(aside)",
        "Sure!",
        "[Sent less than a minute ago]",
        "Assistant:",
        "Hello",
    ]
)
cleanings = st.builds(
    Cleaning,
    thinking=st.sampled_from([None, THINKING, ThinkingRule(start_tag="<", end_tag="why", only_closing_tag=True)]),
    node_beginnings=st.sampled_from([(), ("Roland:", "Well,"), ("Roland: Well,", "Roland:")]),
    endpoint_beginnings=st.sampled_from([(), ("(aside)", "Sure!")]),
    timestamp_echo=st.booleans(),
    assistant_prefix=st.booleans(),
    trims=st.booleans(),
)


def endpoint(**keys):
    return EndpointDefinition.model_validate({"endpoint": "http://a.example", "apiTypeConfigFileName": "A", **keys})


ROWS = [
    (Cleaning(thinking=THINKING), "<think>why</think>\n\nSo. ", "So. "),
    (Cleaning(thinking=THINKING, trims=True), "<think>why</think>\n\nSo.", "So."),
    (Cleaning(thinking=THINKING, trims=True), "\n<think>why", "<think>why"),
    (Cleaning(thinking=THINKING, node_beginnings=("Roland:",)), "Rol<think>why</think>and: So.", "So."),
    (ALL, "<think>why</think>Roland: (aside) [Sent less than a minute ago] Assistant: So.", "So."),
    (ALL, "Sure! Roland: So.", "Roland: So."),
    (ALL, "Assistant: Well, so.", "Well, so."),
    (Cleaning(assistant_prefix=True), "Assistant:", ""),
    (Cleaning(trims=True), "\n  So.", "So."),
    (Cleaning(timestamp_echo=True), " [Sent less than a minute ago] So.", "So."),
]


@pytest.mark.parametrize(("cleaning", "said", "shown"), ROWS)
def test_an_answer_is_cleaned_in_order(cleaning, said, shown):
    assert clean(said, cleaning) == shown


@pytest.mark.parametrize(("cleaning", "said", "shown"), ROWS)
def test_an_answer_in_pieces_is_cleaned_alike(cleaning, said, shown):
    for parts in pieces(said, most_cuts=1):
        assert joined(CleaningStream(cleaning), parts) == shown, parts


@given(st.lists(words, max_size=14), cleanings)
def test_pieces_give_the_same_text_as_the_whole_answer_except_white_space_at_the_end(parts, cleaning):
    shown = joined(CleaningStream(cleaning), parts)
    whole = clean("".join(parts), cleaning)
    if cleaning.is_idle:
        assert (shown, shown.lstrip()) == ("".join(parts), whole)
    else:
        assert shown.rstrip() == whole.rstrip()


@pytest.mark.slow
@given(st.text(max_size=60), st.lists(st.integers(0, 60), max_size=5), cleanings)
def test_no_answer_loses_more_than_its_beginning(text, cuts, cleaning):
    bounds = [0, *sorted(cuts), len(text)]
    parts = [text[start:stop] for start, stop in pairwise(bounds)]
    shown = joined(CleaningStream(cleaning), parts)
    assert shown.rstrip() == (text if cleaning.is_idle else clean(text, cleaning)).rstrip()


def test_an_answer_is_trimmed_at_both_ends_if_the_endpoint_says_so():
    assert clean("\n So. \n", Cleaning(trims=True)) == "So."
    assert clean("\n So. \n", Cleaning()) == "So. \n"


def test_with_nothing_to_do_every_piece_is_passed_on_as_it_is():
    stream, piece = CleaningStream(Cleaning()), "\n a piece"
    assert stream.passes_through
    assert stream.feed(piece) is piece


def test_once_nothing_can_change_pieces_are_passed_on_as_they_are():
    stream, piece = CleaningStream(ALL), "a piece of an answer"
    assert (stream.feed("<think>why</think>"), stream.passes_through) == ("", False)
    assert (stream.feed(f"So {piece}"), stream.passes_through) == (f"So {piece}", True)
    assert stream.feed(piece) is piece


def test_a_stream_that_passed_through_has_no_rest():
    stream = CleaningStream(ALL)
    stream.feed("A long enough answer without any tag in it.")
    assert stream.end() == ""


def test_an_endpoint_and_a_node_name_the_texts_to_remove():
    whole = endpoint(
        removeThinking=True,
        startThinkTag="<t>",
        endThinkTag="</t>",
        openingTagGracePeriod=7,
        expectOnlyClosingThinkTag=True,
        trimBeginningAndEndLineBreaks=True,
        removeCustomTextFromResponseStartEndpointWide=True,
        responseStartTextToRemoveEndpointWide=[" Sure! ", ""],
    )
    node = ModelProperties.model_validate(
        {
            "removeCustomTextFromResponseStart": True,
            "responseStartTextToRemove": "Roland: ",
            "addDiscussionIdTimestampsForLLM": True,
        }
    )
    assert cleaning_for(whole, node, assistant_prefix=True) == Cleaning(
        thinking=ThinkingRule(start_tag="<t>", end_tag="</t>", grace_characters=7, only_closing_tag=True),
        node_beginnings=("Roland: ",),
        endpoint_beginnings=("Sure!",),
        timestamp_echo=True,
        assistant_prefix=True,
        trims=True,
    )


def test_texts_without_their_flags_are_not_removed():
    texts = endpoint(responseStartTextToRemoveEndpointWide="Sure!", startThinkTag="<t>", endThinkTag="</t>")
    node = ModelProperties.model_validate({"responseStartTextToRemove": ["Roland:"]})
    assert cleaning_for(texts, node).is_idle


@pytest.mark.parametrize("keys", [{}, {"startThinkTag": "<t>"}, {"endThinkTag": "</t>"}])
def test_thinking_without_both_tags_stays_and_the_reason_is_given(keys):
    cleaning = cleaning_for(endpoint(removeThinking=True, **keys), ModelProperties.model_validate({}))
    assert cleaning.is_idle
    assert "startThinkTag" in (cleaning.problem or "")


def test_the_older_spelling_of_the_tags_is_enough():
    cleaning = cleaning_for(endpoint(removeThinking=True, thinkTagText="think"), ModelProperties.model_validate({}))
    assert (cleaning.problem, clean("<think>why</think>So.", cleaning)) == (None, "So.")
