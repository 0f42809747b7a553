"""The output of OpenAI's Responses API: what a whole answer says, as one object or at the end of a stream.

An output list starts with the model's first step, often a `reasoning` item: only items of known types are read. Items
of the tools that the server calls itself, and others without words, are named in notes. One of an unknown type with
words is no answer that may be shown without them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mnemoir.core.events import FinishReason, Refusal, Reply, Text, Thinking, Usage
from mnemoir.core.messages import ToolCall
from mnemoir.wire import upstream
from mnemoir.wire.answers.call_ids import CallIds, is_json, read_arguments, read_call_id
from mnemoir.wire.answers.end_reasons import read_reason
from mnemoir.wire.answers.error_shapes import raise_error_in_place, raise_error_of, raise_words_in
from mnemoir.wire.answers.told_texts import rest_of
from mnemoir.wire.members import Json
from mnemoir.wire.openai_shapes import read_usage

CALLS: Mapping[object, str] = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that call a tool, with the member that holds the arguments."""

Speech = type[Text] | type[Refusal] | type[Thinking]
Place = tuple[object, str, int]
"""An item, `content` or `summary` within it, and the number of the part."""

_PARTS: Mapping[object, tuple[Speech, str]] = {
    "output_text": (Text, "text"),
    "text": (Text, "text"),
    "refusal": (Refusal, "refusal"),
    "reasoning_text": (Thinking, "text"),
    "summary_text": (Thinking, "text"),
}
"""Parts of items, with what they become and the member that holds the text."""


_COUNTS = frozenset({"input_tokens", "output_tokens"})


def read_reply(body: Json) -> Reply:
    """The answer. Raises the error the body holds, or ProviderInvalidOutput when it holds no answer at all."""
    raise_error_of(body)
    output = body.get("output")
    if not isinstance(body.get("status"), str | None) or not isinstance(output, list):
        raise_error_in_place(body)
        raise upstream.unusable("no output")
    said, ids = said_in(output), CallIds()
    text = said.of(Text) + said.rest_of(body.get("output_text"))
    for call in said.calls:
        call.check()
    if said.is_cut:
        body = as_cut(body, (call.arguments for call in said.calls if not call.custom))
    reason = reason_of(body, has_calls=bool(said.calls))
    if not (said.is_answer or text) and reason == "stop":
        raise upstream.unusable("no message in its output")
    return Reply(
        text=text,
        reason=reason,
        tool_calls=tuple(call.with_id(ids.take(call.given_id)) for call in said.calls),
        thinking=said.of(Thinking),
        refusal=said.of(Refusal),
        usage=usage_of(body),
        notes=tuple(dict.fromkeys(said.notes)),
    )


@dataclass(slots=True, kw_only=True, eq=False)
class Called:
    """A call of an item; `given_id` is the server's, `item_id` the one of the item. The name may be ""."""

    name: str
    arguments: str
    custom: bool
    given_id: str | None
    item_id: str | None

    def check(self) -> None:
        """Raise ProviderInvalidOutput for a call without a name."""
        if not self.name:
            raise upstream.unusable("a function call without a name")

    def with_id(self, call_id: str) -> ToolCall:
        """The call by the id that it has in this answer."""
        return ToolCall(id=call_id, name=self.name, arguments=self.arguments, custom=self.custom)


@dataclass(slots=True)
class Said:
    """What an output says: pieces of each kind with their places within the item, and calls."""

    pieces: list[tuple[Speech, Place, str]] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    has_message: bool = False
    has_unread: bool = False  # a message of nothing but parts that are not known
    is_cut: bool = False  # a message or a call says that it is incomplete
    notes: list[str] = field(default_factory=list)  # about items and parts that were left out

    @property
    def is_answer(self) -> bool:
        """True for a message, even an empty one, and for calls."""
        return self.has_message or bool(self.calls)

    def of(self, kind: Speech) -> str:
        """The text of one kind."""
        return "".join(self.texts_of(kind))

    def rest_of(self, whole: object) -> str:
        """What the text beside the output, which is to be all of it, says beyond. Raises for one that differs."""
        return rest_of(whole, self.texts_of(Text)) if isinstance(whole, str) and whole else ""

    def texts_of(self, kind: Speech) -> list[str]:
        """The texts of one kind; each part of a summary begins a line."""
        return [begin_of(place) + text for of, place, text in self.pieces if of is kind]

    def places_of(self, kind: Speech) -> set[str]:
        """`content`, `summary` or both: where the texts of one kind stand in their items."""
        return {name for of, (_, name, _), _ in self.pieces if of is kind}


def begin_of(place: Place) -> str:
    """What stands before a text: each part of a summary but the first begins a line."""
    _, name, n = place
    return "\n" if name == "summary" and n else ""


def said_in(output: Sequence[object]) -> Said:
    """What the items of an output say. Raises ProviderInvalidOutput for a call or a text that cannot be used."""
    said = Said()
    for item in output:
        kind = _kind_of_item(item)
        if kind == "message" or kind in CALLS:
            said.is_cut = said.is_cut or _is_cut(item, kind)
        if kind in CALLS:
            said.calls.append(read_call(item))
        elif kind in _PARTS:
            said.pieces += ((of, (None, "content", 0), text) for of, text in read_part(item))
            said.has_message = said.has_message or _PARTS[kind][0] is not Thinking
        elif kind in ("message", "reasoning"):
            is_read = not _parts_of(item, "content") or any(map(_is_known, _parts_of(item, "content")))
            said.has_message = said.has_message or (kind == "message" and is_read)
            said.has_unread = said.has_unread or not is_read
            otherwise = Text if kind == "message" else Thinking
            for name in ("summary", "content"):
                for n, part in enumerate(_parts_of(item, name)):
                    said.pieces += ((of, (None, name, n), text) for of, text in read_part(part, otherwise))
                    if part is not None and not _is_known(part):
                        said.notes.append(_left_out("A part", type_of(part)))
        elif item is not None:
            raise_words_in(item, kind, "an item")
            said.notes.append(_left_out("An item", kind))
    return said


def _is_cut(item: object, kind: str) -> bool:
    """True for a message or a call that its status tells to be a part. Raises FailedAnswer for one that failed.

    Some servers leave whole calls `in_progress`; a message has no other sign of its end.
    """
    status = upstream.member(item, "status")
    if status in (None, "completed", "incomplete"):
        return bool(status == "incomplete")
    if read_reason(status) is not None:
        return False
    arguments = read_call(item).arguments if kind in CALLS else ""
    return not arguments or (kind == "function_call" and not is_json(arguments))


def _left_out(what: str, kind: str) -> str:
    return f"{what} of the answer is of the type {kind[:40]!r}, which is not read; it was left out."


def _kind_of_item(item: object) -> str:
    """The type of an item; one without a type that has a role is a message."""
    return type_of(item) or ("message" if upstream.member(item, "role") is not None else "")


def _parts_of(item: object, name: str) -> Sequence[object]:
    """The parts of a member of an item, which may be one part or a text."""
    value = upstream.member(item, name)
    return value if isinstance(value, list) else [value] if value else ()


def _is_known(part: object) -> bool:
    return isinstance(part, str) or type_of(part) in _PARTS or (not type_of(part) and "text" in _object_of(part))


def _object_of(part: object) -> Json:
    """A part as an object; a text is the text of one without a type."""
    return part if isinstance(part, Mapping) else {"text": part}


def read_part(part: object, otherwise: Speech = Text) -> Iterator[tuple[Speech, str]]:
    """The text of a part, and what it becomes, `otherwise` without a type; nothing for one of an unknown type.

    Raises ProviderInvalidOutput for one of an unknown type with words.
    """
    part = _object_of(part)
    found = _PARTS.get(type_of(part)) if part.get("type") is not None else (otherwise, "text")
    if found is None:
        raise_words_in(part, str(part["type"]), "a part")
    value = part.get(found[1]) if found else None
    text = upstream.text_or_none(upstream.member(value, "value") or value, "a part")
    if found and text:
        yield found[0], text


def read_call(item: object) -> Called:
    """A call of a tool. Raises ProviderInvalidOutput for one whose name is no text."""
    name, kind = upstream.text_or_none(upstream.member(item, "name"), "a function name"), type_of(item)
    return Called(
        name=name or "",
        arguments=read_arguments(upstream.member(item, CALLS[kind])) or "",
        custom=kind == "custom_tool_call",
        given_id=read_call_id(upstream.member(item, "call_id")),
        item_id=text_of(upstream.member(item, "id")),
    )


def text_of(value: object) -> str | None:
    """A text, such as an id; None for anything else."""
    return value if isinstance(value, str) else None


def type_of(item: object) -> str:
    """The type of an item or a part; "" for one without."""
    return text_of(upstream.member(item, "type")) or ""


def as_cut(body: Json, arguments: Iterable[str]) -> Json:
    """A completed response with an item that says it is incomplete, as the incomplete one that it is.

    Raises ProviderInvalidOutput where these `arguments` of its calls are not whole.
    """
    status = body.get("status") or "completed"
    if status == "incomplete" or read_reason(status) != "stop":
        return body
    if not all(is_json(one) for one in arguments if one):
        raise upstream.unusable("a function call whose arguments are cut")
    return {**body, "status": "incomplete"}


def reason_of(body: Json, *, has_calls: bool) -> FinishReason:
    """The reason of the end. Raises FailedAnswer for a response that failed, was cancelled or is still made."""
    status = body.get("status")
    if status == "incomplete":
        why = read_reason(upstream.member(body.get("incomplete_details"), "reason"))
        return "length" if why in (None, "stop") else why
    reason = read_reason(status or "completed")
    if reason is None:
        raise upstream.ended_early()
    return "tool_calls" if has_calls and reason == "stop" else reason


def usage_of(body: Json) -> Usage:
    """The counts of a response."""
    usage = body.get("usage")
    if isinstance(usage, Mapping) and usage and _COUNTS.isdisjoint(usage):
        return replace(read_usage(usage), extra=None)  # of a server that counts as it does for chats
    details = upstream.member(usage, "input_tokens_details")
    return Usage(
        input_tokens=upstream.count(upstream.member(usage, "input_tokens")),
        output_tokens=upstream.count(upstream.member(usage, "output_tokens")),
        cached_tokens=upstream.count(upstream.member(details, "cached_tokens")),
        reasoning_tokens=upstream.count(
            upstream.member(upstream.member(usage, "output_tokens_details"), "reasoning_tokens")
        ),
    )
