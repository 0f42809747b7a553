"""Hypothesis strategies for requests, replies and event streams, and the joining of a stream into a reply."""

from collections.abc import Sequence

import orjson
from hypothesis import strategies as st

from mnemoir.core.events import Event, Finished, FinishReason, ModelEvent, Reply, Text, Thinking, ToolCallPart, Usage
from mnemoir.core.messages import (
    ImagePart,
    JsonSchema,
    Message,
    ModelRequest,
    Part,
    Sampling,
    TextPart,
    ToolCall,
    text_message,
)

texts = st.text(min_size=1, max_size=30)
names = st.text(alphabet="abcdefgh_", min_size=1, max_size=10)
arguments = st.dictionaries(names, st.integers(-9, 9) | texts, max_size=3).map(
    lambda value: orjson.dumps(value).decode()
)
calls = st.builds(ToolCall, id=names, name=names, arguments=arguments)
images = st.sampled_from(["iVBORw0KGgoAAA==", "/9j/AAAA"]).map(
    lambda data: ImagePart(url=f"data:image/{'png' if data[0] == 'i' else 'jpeg'};base64,{data}")
)
whole_floats = st.floats(min_value=-2, max_value=2, allow_nan=False)
CLOSED = {
    "type": "object",
    "additionalProperties": False,
    "required": ["facts"],
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
}


def unique_calls(most: int = 3) -> st.SearchStrategy[tuple[ToolCall, ...]]:
    return st.lists(calls, max_size=most, unique_by=lambda call: call.id).map(tuple)


def user_messages(*, many_texts: bool) -> st.SearchStrategy[Message]:
    one_text: st.SearchStrategy[tuple[Part, ...]] = st.builds(lambda text: (TextPart(text=text),), texts)
    with_image = st.tuples(texts.map(lambda text: TextPart(text=text)), images)
    parts = one_text | with_image
    if many_texts:
        parts |= st.lists(texts.map(lambda text: TextPart(text=text)), min_size=2, max_size=3).map(tuple)
    return st.builds(Message, role=st.just("user"), parts=parts)


def conversations(*, many_texts: bool = True) -> st.SearchStrategy[tuple[Message, ...]]:
    """Alternating talk with a tool call and its answer now and then."""
    system = st.builds(text_message, st.just("system"), texts)
    assistant = st.builds(text_message, st.just("assistant"), texts)
    called = st.builds(
        lambda call, text, answer: (
            Message(role="assistant", parts=(TextPart(text=text),) if text else (), tool_calls=(call,)),
            Message(role="tool", parts=(TextPart(text=answer),), tool_call_id=call.id),
        ),
        calls,
        st.just("") | texts,
        texts,
    )
    one = st.one_of(system, user_messages(many_texts=many_texts), assistant).map(lambda message: (message,))
    return st.lists(one | called, min_size=1, max_size=5).map(
        lambda groups: tuple(m for group in groups for m in group)
    )


samplings = st.builds(
    Sampling,
    temperature=st.none() | whole_floats,
    top_p=st.none() | whole_floats,
    max_tokens=st.none() | st.integers(1, 10_000),
    stop=st.lists(texts, max_size=2).map(tuple),
    seed=st.none() | st.integers(-1000, 1000),
    presence_penalty=st.none() | whole_floats,
    frequency_penalty=st.none() | whole_floats,
)
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


def requests(*, many_texts: bool = True, output_name: str = "facts") -> st.SearchStrategy[ModelRequest]:
    return st.builds(
        ModelRequest,
        messages=conversations(many_texts=many_texts),
        model=names,
        sampling=samplings,
        tools=st.sampled_from([(), (TOOL,)]),
        output=st.sampled_from([None, JsonSchema(name=output_name, schema=CLOSED)]),
        reasoning_effort=st.sampled_from([None, "low"]),
    )


usages = st.builds(Usage, input_tokens=st.integers(0, 10**6), output_tokens=st.integers(0, 10**6))


PLAIN_REASONS: list[FinishReason] = ["stop", "length", "content_filter"]


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    tool_calls = draw(unique_calls())
    reason: FinishReason = "tool_calls" if tool_calls else draw(st.sampled_from(PLAIN_REASONS))
    return Reply(
        text=draw(st.text(max_size=40)),
        reason=reason,
        tool_calls=tool_calls,
        thinking=draw(st.just("") | texts),
        usage=draw(usages),
    )


@st.composite
def streams(draw: st.DrawFn) -> list[list[Event]]:
    """Batches of one answer's events, its Finished last."""
    events: list[Event] = [Thinking(text) for text in draw(st.lists(texts, max_size=2))]
    events += [Text(text) for text in draw(st.lists(texts, max_size=6))]
    tool_calls = draw(unique_calls(2))
    for n, call in enumerate(tool_calls):
        half = len(call.arguments) // 2
        events.append(ToolCallPart(index=n, id=call.id, name=call.name, arguments=call.arguments[:half]))
        events.append(ToolCallPart(index=n, arguments=call.arguments[half:]))
    reason: FinishReason = "tool_calls" if tool_calls else draw(st.sampled_from(PLAIN_REASONS))
    events += [draw(usages), Finished(reason=reason)]
    size = draw(st.integers(1, 5))
    return [events[at : at + size] for at in range(0, len(events), size)]


def joined(events: Sequence[Event | ModelEvent]) -> Reply:
    """What a stream says as a whole; fails unless its one Finished is the last event."""
    assert [isinstance(event, Finished) for event in events] == [False] * (len(events) - 1) + [True]
    made: dict[int, ToolCall] = {}
    for part in (event for event in events if isinstance(event, ToolCallPart)):
        old = made.get(part.index, ToolCall(id="", name="", arguments=""))
        made[part.index] = ToolCall(
            id=part.id or old.id, name=part.name or old.name, arguments=old.arguments + part.arguments
        )
    usage = next((event for event in events if isinstance(event, Usage)), Usage())
    last = events[-1]
    assert isinstance(last, Finished)
    return Reply(
        text="".join(event.text for event in events if isinstance(event, Text)),
        thinking="".join(event.text for event in events if isinstance(event, Thinking)),
        tool_calls=tuple(made.values()),
        reason=last.reason,
        usage=usage,
    )
