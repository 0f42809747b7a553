"""Random histories: turns with rounds of tools in them, and lists of messages that follow no rule at all."""

from hypothesis import strategies as st

from mnemoir.core.conversations import Message, ToolCall

_texts = st.text("ab 日", max_size=12)
_ids = st.sampled_from(["x", "y", "z"])  # few, so that rounds reuse them as models do


def caller(*call_ids: str, text: str | None = None) -> Message:
    return Message("assistant", text, tool_calls=[ToolCall(call_id, "look", {"at": call_id}) for call_id in call_ids])


def result(call_id: str | None, text: str = "found") -> Message:
    return Message("tool", text, tool_call_id=call_id, name="look")


@st.composite
def _rounds(draw) -> list[Message]:
    call_ids = draw(st.lists(_ids, min_size=1, max_size=3, unique=True))
    return [caller(*call_ids), *(result(call_id, draw(_texts)) for call_id in draw(st.permutations(call_ids)))]


@st.composite
def valid_histories(draw) -> list[Message]:
    """What a provider accepts: turns of a user message, rounds of tools, and an answer."""
    messages: list[Message] = [Message("system", "be kind")] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 6))):
        messages.append(Message("user", draw(_texts)))
        for tool_round in draw(st.lists(_rounds(), max_size=2)):
            messages += tool_round
        messages.append(Message("assistant", draw(_texts)))
    return messages


def any_messages() -> st.SearchStrategy[list[Message]]:
    """Messages in any order: results before their calls, calls without results, results of nothing."""
    return st.lists(
        st.one_of(
            st.builds(Message, st.sampled_from(["system", "user", "assistant"]), _texts),
            st.lists(_ids, min_size=1, max_size=3).map(lambda call_ids: caller(*call_ids)),
            st.one_of(st.none(), _ids).map(result),
        ),
        max_size=16,
    )
