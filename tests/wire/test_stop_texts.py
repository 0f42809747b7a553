"""Stop texts, for a protocol that has none, end an answer as a model's server would end it."""

from collections.abc import Sequence

import pytest

from mnemoir.core.events import Finished, ModelEvent, Reply, Text, Usage
from mnemoir.core.messages import ToolCall
from mnemoir.wire.stop_texts import StopTexts, cut


def streamed(pieces: Sequence[str], stops: Sequence[str]) -> tuple[str, bool]:
    """What a client gets of these pieces, and whether a stop text was met."""
    stopping, events = StopTexts(stops), list[ModelEvent]()
    for piece in pieces:
        if not stopping.met:
            events += stopping.events([Text(piece)])
    if not stopping.met:
        events += stopping.events([Finished()])
    assert isinstance(events[-1], Finished)
    return "".join(event.text for event in events if isinstance(event, Text)), stopping.met


@pytest.mark.parametrize(
    ("pieces", "stops", "said", "met"),
    [
        (["One. STOP two"], ["STOP"], "One. ", True),
        (["One. ST", "OP two"], ["STOP"], "One. ", True),
        (["One. S", "T", "O", "P", " two"], ["STOP"], "One. ", True),
        (["One. ST", "ART two"], ["STOP"], "One. START two", False),
        (["One. STO"], ["STOP"], "One. STO", False),
        (["SSTOP"], ["STOP"], "S", True),
        (["a", "ab"], ["aab"], "", True),
        (["One\n", "\nTwo"], ["\n\n", "Two"], "One", True),
        (["STOP"], ["STOP"], "", True),
        (["One"], [""], "One", False),
    ],
)
def test_a_stream_ends_before_a_stop_text_wherever_it_is_cut(
    pieces: Sequence[str], stops: Sequence[str], said: str, met: bool
) -> None:
    assert streamed(pieces, stops) == (said, met)
    assert cut(Reply(text="".join(pieces)), stops).text == said


def test_a_cut_answer_stopped_and_calls_no_tool() -> None:
    reply = Reply(text="One STOP", reason="length", tool_calls=(ToolCall(id="1", name="x", arguments=""),))
    assert cut(reply, ["STOP"]) == Reply(text="One ")


def test_what_is_no_text_goes_through() -> None:
    usage = Usage(input_tokens=1)
    assert StopTexts(["STOP"]).events([Text("ST"), usage]) == [usage]
