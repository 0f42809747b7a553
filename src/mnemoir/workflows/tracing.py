"""Prompts and outputs in traces: cut to a length, so that traces are not a second copy of long conversations."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile

import orjson

from mnemoir.core.events import Usage
from mnemoir.core.messages import ImagePart, Message, ModelRequest, PlainMessages, texts_of
from mnemoir.core.runs import MOST_TRACED_CHARACTERS, FilledVariable, ModelCall, NodeTrace, TracedMessage
from mnemoir.core.text import OPENING, estimate_prompt_tokens, fence_in
from mnemoir.ports.llm import ChatModel
from mnemoir.workflows.text.fields import Filling, TextPosition

RECALLED = "recalled_memories"  # shown like a variable: the recalled memories in front of the user's message
MOST_VARIABLES = 500  # for one text


def output_text(value: object) -> str:
    """A node's output as text: a text as it is, "" for None, JSON for lists and objects."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return str(value)


def traced_messages(
    messages: Sequence[Message], most_characters: int = MOST_TRACED_CHARACTERS
) -> Sequence[TracedMessage]:
    """The newest messages that fit, in order, pictures by number; a first entry counts the messages left out."""
    texts = texts_of(messages)
    if sum(map(len, texts)) <= most_characters:
        return _shown_messages(messages)
    sizes = accumulate(map(len, reversed(texts)))
    fitting = sum(1 for _ in takewhile(most_characters.__ge__, sizes))
    kept = list(_shown_messages(messages[len(messages) - fitting :]))
    if not kept:  # the newest is too long by itself
        kept = [_traced_message(messages[-1], messages[-1].text[:most_characters])]
    left_out = len(messages) - len(kept)
    note: TracedMessage = {"role": "note", "content": f"{left_out} earlier messages are not shown."}
    return [note, *kept] if left_out else kept


def traced_text(text: str) -> str:
    """The end of a text, which has the newest messages, preceded by the number of characters left out."""
    left_out = len(text) - MOST_TRACED_CHARACTERS
    return text if left_out <= 0 else f"[{left_out} earlier characters are not shown.]\n{text[left_out:]}"


def variables_in(prompt: str | Sequence[TracedMessage], fillings: Mapping[str, Filling]) -> list[FilledVariable]:
    """The positions of variables and of recalled memories in a traced prompt.

    A filled text is searched in the message it was put into; if it was changed since, or occurs there twice, its
    variables are left out, because their positions are uncertain.
    """
    texts = [prompt] if isinstance(prompt, str) else [message["content"] for message in prompt]
    found = [_recalled_variable(index, text) for index, text in enumerate(texts) if OPENING in text]
    if not fillings:  # the case of every chat without a config tree
        return [variable for variable in found if variable is not None]
    for key, filling in fillings.items():
        index = 0 if isinstance(prompt, str) else _entry_for(key, prompt)
        if not filling.places or index is None:
            continue
        begin = _only_place(filling.text, texts[index])
        if begin is not None:
            found += [_variable_at(place, index, begin) for place in filling.places[:MOST_VARIABLES]]
    return [variable for variable in found if variable is not None]


def call_of(model: ChatModel, request: ModelRequest, *, stream: bool) -> ModelCall | None:
    """The parameters of a model call, for repeating it; None for a model in this process."""
    address = model.address(stream=stream)
    if address is None:
        return None
    return ModelCall(
        url=address.url,
        needs_key=address.needs_key,
        protocol=model.provider,
        model=model.name if request.model == "" else request.model,
        stream=stream,
        sampling=request.sampling,
        options=request.options,
        has_tools=bool(request.tools),
        passed=[] if request.extra is None else list(request.extra.members),
    )


def add_tokens(trace: NodeTrace, usage: Usage, prompt: Sequence[Message], output: Sequence[str]) -> None:
    """Add the tokens of one call to the trace, as counted by the model's server, or estimated if it counted none.

    `output` is the answer in pieces.
    """
    if not (usage.input_tokens or usage.output_tokens):
        usage = estimated_usage(prompt, output)
        trace.tokens_counted = True
    trace.input_tokens += usage.input_tokens
    trace.output_tokens += usage.output_tokens


def estimated_usage(prompt: Sequence[Message], output: Sequence[str]) -> Usage:
    """The tokens of a call whose server counted none. `output` is the answer in pieces."""
    asked = sum(map(estimate_prompt_tokens, texts_of(prompt)))
    return Usage(input_tokens=asked, output_tokens=estimate_prompt_tokens("".join(output)))


def _recalled_variable(index: int, text: str) -> FilledVariable | None:
    span = fence_in(text)
    return None if span is None else FilledVariable(name=RECALLED, message=index, start=span[0], end=span[1])


def _entry_for(key: str, prompt: Sequence[TracedMessage]) -> int | None:
    """The index of the message with a node's text: the first system message, or the last user message."""
    if key == "systemPrompt":
        return next((index for index, message in enumerate(prompt) if message["role"] == "system"), None)
    return next((index for index in reversed(range(len(prompt))) if prompt[index]["role"] == "user"), None)


def _only_place(part: str, text: str) -> int | None:
    if text.endswith(part):
        return len(text) - len(part)
    begin = text.find(part)
    return begin if begin >= 0 and text.find(part, begin + 1) < 0 else None


def _variable_at(place: TextPosition, index: int, begin: int) -> FilledVariable:
    return FilledVariable(name=place.name, message=index, start=begin + place.start, end=begin + place.end)


def _shown_messages(messages: Sequence[Message]) -> Sequence[TracedMessage]:
    if isinstance(messages, PlainMessages):
        return messages.bodies  # type: ignore[return-value]  # the same without the members that may be missing
    return [_traced_message(message, message.text) for message in messages]


def _traced_message(message: Message, text: str) -> TracedMessage:
    shown_message: TracedMessage = {"role": message.role, "content": text}
    images = sum(isinstance(part, ImagePart) for part in message.parts)
    if images:
        shown_message["images"] = images
    if message.tool_calls:
        shown_message["tool_calls"] = [call.name for call in message.tool_calls]
    return shown_message
