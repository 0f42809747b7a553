"""All answers of models' servers that the tests know, with the verdict on each."""

from collections.abc import Sequence

from tests.wire.answer_kit import Case
from tests.wire.answers_of_attacks import attacks
from tests.wire.answers_of_calls import CALLS, HALVES
from tests.wire.answers_of_chat import STREAMS, WHOLE
from tests.wire.answers_of_choices import by_index, by_place, further_choices
from tests.wire.answers_of_ends import counts, ends
from tests.wire.answers_of_errors import errors
from tests.wire.answers_of_frames import odd_frames, odd_lines, odd_parts
from tests.wire.answers_of_holes import holes, lost_words, reasons_without_done, wrapped
from tests.wire.answers_of_others import kobold, odd_ollama, ollama, responses, text_completions
from tests.wire.answers_of_reports import REPORTED
from tests.wire.answers_of_responses import (
    ends_without_a_response,
    odd_responses,
    other_shapes,
    pieces_against_wholes,
    unknown_items,
    whole_texts,
)

CASES: Sequence[Case] = (
    *STREAMS,
    *CALLS,
    *HALVES,
    *WHOLE,
    *text_completions(),
    *responses(),
    *ollama(),
    *odd_ollama(),
    *kobold(),
    *ends(),
    *holes(),
    *lost_words(),
    *wrapped(),
    *reasons_without_done(),
    *errors(),
    *whole_texts(),
    *odd_responses(),
    *other_shapes(),
    *unknown_items(),
    *ends_without_a_response(),
    *pieces_against_wholes(),
    *counts(),
    *by_index(),
    *by_place(),
    *further_choices(),
    *odd_frames(),
    *odd_parts(),
    *odd_lines(),
    *attacks(),
    *REPORTED,
)
