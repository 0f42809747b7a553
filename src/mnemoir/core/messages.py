"""Messages, their parts, tool calls, and requests to models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, overload

# `systemMes` is a later system message of a text prompt with role markers: models get it as a system message, and the
# variables for the system prompt leave it out
Role = Literal["system", "developer", "user", "assistant", "tool", "systemMes"]

# a protocol of clients, of model servers, or of both
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
    """Members of a JSON object that Mnemoir does not use, unchanged: names and JSON values.

    Their meaning belongs to the protocol `route`, so they are sent only to servers and clients of that protocol.
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
    """A picture: `url` is an http(s) or data URL, `detail` is OpenAI's low, high or auto."""

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
    """A tool call requested by a model; `arguments` is JSON text as the model wrote it.

    A `custom` call is for a tool that takes free text: `arguments` is that text.
    """

    id: str
    name: str
    arguments: str
    custom: bool = False
    extra: Extra | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. `name` is the speaker; `tool_call_id` is the call that a tool message answers.

    `uid` is the uid of the stored message, if it is known. `blanks` are the blank messages in front of this one that
    were left out. Comparisons of messages ignore both.
    """

    role: Role
    parts: Sequence[Part] = ()
    name: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None
    extra: Extra | None = None
    uid: str | None = field(default=None, compare=False)
    blanks: Sequence["Message"] = field(default=(), compare=False)

    @property
    def text(self) -> str:
        """All text parts, joined by newlines."""
        if len(self.parts) == 1 and isinstance(self.parts[0], TextPart):
            return self.parts[0].text  # nearly every message has one part, and its text is read a dozen times
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


class PlainBody(TypedDict):
    """The JSON object of a message that has a role and a text, and no other member."""

    role: Role
    content: str


class PlainMessages(Sequence[Message]):
    """Messages of a role and a text that is not empty, as nearly all of a history are.

    Each becomes a value when it is first read, and stays that object; nothing reads most of a long history. `bodies`
    are as the client sent them, and must not be changed.
    """

    __slots__ = ("_made", "bodies")

    def __init__(self, bodies: Sequence[PlainBody]) -> None:
        self.bodies = bodies
        self._made: dict[int, Message] = {}

    @overload
    def __getitem__(self, place: int) -> Message: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Message]: ...
    def __getitem__(self, place: int | slice) -> Message | Sequence[Message]:
        if isinstance(place, slice):
            return PlainMessages(self.bodies[place])
        body = self.bodies[place]
        made = self._made.get(id(body))
        if made is None:
            made = self._made[id(body)] = Message(role=body["role"], parts=(TextPart(text=body["content"]),))
        return made

    def behind(self, role: Role, text: str) -> "PlainMessages":
        """The messages behind another one, whose text is not empty."""
        return PlainMessages([{"role": role, "content": text}, *self.bodies])

    def __len__(self) -> int:
        return len(self.bodies)

    def __iter__(self) -> Iterator[Message]:
        return map(self.__getitem__, range(len(self.bodies)))

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def role_at(messages: Sequence[Message], place: int) -> Role:
    """The role of one message."""
    return messages.bodies[place]["role"] if isinstance(messages, PlainMessages) else messages[place].role


def text_at(messages: Sequence[Message], place: int) -> str:
    """The text of one message."""
    return messages.bodies[place]["content"] if isinstance(messages, PlainMessages) else messages[place].text


def roles_of(messages: Sequence[Message]) -> Sequence[Role]:
    """The role of each message, in order."""
    if isinstance(messages, PlainMessages):
        return [body["role"] for body in messages.bodies]
    return [message.role for message in messages]


def texts_of(messages: Sequence[Message]) -> Sequence[str]:
    """The text of each message, in order."""
    if isinstance(messages, PlainMessages):
        return [body["content"] for body in messages.bodies]
    return [message.text for message in messages]


def is_all_text(message: Message) -> bool:
    """True when all parts of the message are texts without members that Mnemoir does not read."""
    if message.extra is not None or message.tool_calls:
        return False
    if len(message.parts) == 1:  # the case of nearly every message of a history
        return message.parts[0].__class__ is TextPart and message.parts[0].extra is None
    return all(part.__class__ is TextPart and part.extra is None for part in message.parts)


def are_all_text(messages: Sequence[Message]) -> bool:
    """True when `is_all_text` holds for each."""
    return isinstance(messages, PlainMessages) or all(map(is_all_text, messages))


def text_message(role: Role, text: str) -> Message:
    """A message of one text part; without parts for an empty text."""
    return Message(role=role, parts=(TextPart(text=text),) if text else ())


def with_text_in_front(message: Message, text: str) -> Message:
    """The message with `text` in front of its first text part, or as a new first part without one."""
    for place, part in enumerate(message.parts):
        if isinstance(part, TextPart):
            longer = replace(part, text=text + part.text)
            return replace(message, parts=(*message.parts[:place], longer, *message.parts[place + 1 :]))
    return replace(message, parts=(TextPart(text=text), *message.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """The JSON Schema an answer must follow; `name` matches [A-Za-z0-9_-]{1,64}.

    `strict` is the member of OpenAI's protocols: the server makes the model follow a closed schema exactly. None
    leaves the choice to the server. `is_local_form` marks a form that local servers add to the protocol of `extra`,
    such as a grammar: it is passed on there as it came, and other protocols get at most its schema, which may be
    empty.
    """

    name: str
    schema: Mapping[str, Any]  # JSON Schema, any JSON
    strict: bool | None = None
    description: str | None = None
    extra: Extra | None = None
    is_local_form: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling settings of a model call; None leaves a setting to the model's server.

    `limit_name` is the name by which a client of OpenAI's protocols gave `max_tokens`; None leaves it to the model.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: Sequence[str] = ()
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    limit_name: Literal["max_completion_tokens"] | None = None


AS_THE_SERVER_LIKES = Sampling()  # of nearly all chats


def has_sampling(sampling: Sampling) -> bool:
    """False where all of it is left to the model's server."""
    return sampling is not AS_THE_SERVER_LIKES and sampling != AS_THE_SERVER_LIKES


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model, independent of the protocol.

    `tools` and `tool_choice` are in the form of OpenAI's chat protocol; `reasoning_effort` is a level such as `low`
    or `high`, and `think` switches reasoning on or off without a level. `output` asks for JSON that follows a schema.
    `choices` is the number of answers wanted.

    `extra` holds the members of the client's body that Mnemoir does not use. A `raw` request can only be expressed in
    the protocol of `extra`: the prompt is among its members, and `messages` only show it in traces.

    With `options`, these members of a config tree's preset take precedence over the client's sampling and `extra`,
    and a `model` of None is not sent. Text completion protocols take the prompt and its pictures from the single
    message.

    `added` names members that the client did not give, or that say something else than it did, by their names in
    OpenAI's chat protocol. A server may refuse them: then it is asked without.

    `for_client` marks the call whose failure goes to the client directly: failures that clients retry themselves are
    not retried here, so that their retries are not multiplied by those of the server.
    """

    messages: Sequence[Message]
    model: str | None = ""
    sampling: Sampling = AS_THE_SERVER_LIKES
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
    added: Sequence[str] = ()
    for_client: bool = False


Loading = Literal["load", "unload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A client's chat request: the model request, and the form of the answer.

    `memory` is True only for a JSON `true` in `memoryEnabled`; `user` is the client's own name of a person, not
    verified. `is_completion` marks a prompt instead of a list of messages, and `unmarked_prompt` is its whole text
    when no marker in it separates roles; a system text beside it is a message. `function_calls` marks a request with
    `functions`, OpenAI's older form of tools: its client reads tool calls in that form only. `object_arguments` marks
    a client whose protocol takes no calls but those with an object for arguments. `notes` say what was odd about its
    body, for the trace.

    A request with `loading` has no question: it asks to load the model or to free its memory. `names` maps names of
    members in OpenAI's chat protocol to the client protocol's spelling, where they differ.
    """

    request: ModelRequest
    stream: bool
    is_completion: bool = False
    unmarked_prompt: str | None = None
    include_usage: bool = False
    memory: bool = False
    user: str | None = None
    function_calls: bool = False
    object_arguments: bool = False
    loading: Loading | None = None
    notes: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def client_spellings(self, names: Sequence[str]) -> list[str]:
        """The member names as the client spelled them, each once."""
        return list(dict.fromkeys(self.names.get(name, name) for name in names))
