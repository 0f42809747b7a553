"""What was said: messages, their parts, and calls of tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

# `systemMes` is a later system message of a marked text prompt: a model gets it as a system message, and no variable
# that speaks of the system prompt means it
Role = Literal["system", "developer", "user", "assistant", "tool", "systemMes"]

# a protocol that clients and model servers share, or that Mnemoir asks by
Route = Literal[
    "openai-chat",
    "openai-completions",
    "openai-responses",
    "openai-embeddings",
    "ollama-chat",
    "ollama-generate",
    "ollama-embed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Members of a JSON object that Mnemoir does not use, as they came: names and JSON values.

    Only a server or client that speaks the protocol of `route` knows what they mean, so they are written to no other.
    """

    route: Route
    members: Mapping[str, Any]  # JSON, open by nature


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Plain text."""

    text: str
    extra: Extra | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """A picture: `url` is an https or data URL, `detail` what OpenAI calls low, high or auto."""

    url: str
    detail: str | None = None
    extra: Extra | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaquePart:
    """A part that Mnemoir does not read, such as a sound or a file: `kind` is its type, `extra` the whole part."""

    kind: str
    extra: Extra


Part = TextPart | ImagePart | OpaquePart


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call the model asks for; `arguments` is JSON text, as the model wrote it.

    A `custom` call is of a tool that takes free text: `arguments` is that text.
    """

    id: str
    name: str
    arguments: str
    custom: bool = False
    extra: Extra | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One utterance. `name` is the speaker, `tool_call_id` the call a tool message answers.

    `uid` names the stored message that it is, where that is told; it does not make it another message.
    """

    role: Role
    parts: Sequence[Part] = ()
    name: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None
    extra: Extra | None = None
    uid: str | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """All text parts, joined by newlines."""
        if len(self.parts) == 1 and isinstance(self.parts[0], TextPart):
            return self.parts[0].text  # nearly every message is one, and is asked for its text a dozen times
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


def is_all_text(message: Message) -> bool:
    """Whether the message holds texts and nothing else, none of them with members that Mnemoir does not read."""
    if message.extra is not None or message.tool_calls:
        return False
    if len(message.parts) == 1:  # as nearly every message of a history
        return message.parts[0].__class__ is TextPart and message.parts[0].extra is None
    return all(part.__class__ is TextPart and part.extra is None for part in message.parts)


def text_message(role: Role, text: str) -> Message:
    """A message of one text part, or of none for an empty text."""
    return Message(role=role, parts=(TextPart(text=text),) if text else ())


def with_text_in_front(message: Message, text: str) -> Message:
    """The message with `text` in front of its first text part, or as its first part where it has none."""
    for place, part in enumerate(message.parts):
        if isinstance(part, TextPart):
            longer = replace(part, text=text + part.text)
            return replace(message, parts=(*message.parts[:place], longer, *message.parts[place + 1 :]))
    return replace(message, parts=(TextPart(text=text), *message.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """The shape an answer must have; `name` matches [A-Za-z0-9_-]{1,64}.

    `strict` is what OpenAI's protocols call so: the server holds the model to a schema that is closed. None leaves it
    to the server.
    """

    name: str
    schema: Mapping[str, Any]  # a JSON Schema is open by nature
    strict: bool | None = None
    description: str | None = None
    extra: Extra | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the model picks its words; None leaves it to the model's server."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: Sequence[str] = ()
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model, in no protocol's words.

    `tools` and `tool_choice` are passed on as OpenAI's chat protocol spells them; `reasoning_effort` is a level such
    as `low` or `high`, and `think` switches reasoning on or off without one. `output` asks for JSON of that shape.
    `choices` is how many answers are wanted.

    `extra` holds the members of the client's body that Mnemoir does not use. A `raw` request is one that only the
    protocol of `extra` can express: the prompt is among its members, and the messages only tell traces what it says.

    With `options` given, those members of a config tree's preset win over the client's sampling and `extra`. A model
    of None is then left out. A protocol for text completion takes the prompt, and its pictures, from the one message
    there is.

    `for_client` marks the call whose failure goes to the client as it is: a client that tries again by itself should
    not have each of its tries multiplied by ours.
    """

    messages: Sequence[Message]
    model: str | None = ""
    sampling: Sampling = Sampling()
    tools: Sequence[Mapping[str, Any]] = ()  # JSON, passed through
    tool_choice: Any = None  # a string or an object, passed through
    output: JsonSchema | None = None
    reasoning_effort: str | None = None
    think: bool | None = None
    choices: int = 1
    extra: Extra | None = None
    raw: bool = False
    dropped: Sequence[str] = ()
    options: Mapping[str, Any] | None = None  # JSON, sent as it is
    for_client: bool = False


Loading = Literal["load", "unload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a client asked of us: the model request, and how it wants the answer.

    `memory` is True only for a JSON `true` in `memoryEnabled`; `user` is the client's own name for a person,
    unchecked. `is_completion` marks a prompt instead of a list of messages, and `unmarked_prompt` is its whole text
    when no marker in it told roles apart. `function_calls` marks a request of functions, OpenAI's older word for
    tools: the client reads calls in their form alone.

    With `loading` nothing is asked: the model is to be made ready, or its memory freed. `names` are names of members
    that the client's protocol spells unlike OpenAI's chat, by how that spells them.
    """

    request: ModelRequest
    stream: bool
    is_completion: bool = False
    unmarked_prompt: str | None = None
    include_usage: bool = False
    memory: bool = False
    user: str | None = None
    function_calls: bool = False
    loading: Loading | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def spelled(self, names: Sequence[str]) -> list[str]:
        """The names of members as the client wrote them, each once."""
        return list(dict.fromkeys(self.names.get(name, name) for name in names))
