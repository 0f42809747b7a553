"""Variables with parts of the conversation: its last turns, its system prompt, all of it.

If the node's endpoint takes messages, turns are joined as they are. If it takes a text prompt, turns of templated_*
variables are formatted by the endpoint's template, and system messages of the client are left out of the turns. Both
rules come from WilmerAI. Each variable reads only as much of the conversation as it needs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, takewhile

from mnemoir.core.messages import ImagePart, Message, text_message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.prompting.history import SYSTEM_ROLES
from mnemoir.workflows.prompting.templates import formatted, turn
from mnemoir.workflows.text.surroundings import Surroundings

_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}
_SPEAKERS = {
    "user": "User: ",
    "assistant": "Assistant: ",
    "system": "System: ",
    "developer": "System: ",
    "systemMes": "System: ",
    "tool": "Tool Result: ",
}

Selection = Callable[[Surroundings, Iterable[Message]], list[Message]]  # from newest-first to oldest-first


def as_data(messages: Sequence[Message]) -> list[dict[str, object]]:
    """The messages as plain data: role, content, and the URLs of pictures, if any."""
    return [_data(message) for message in messages]


def _data(message: Message) -> dict[str, object]:
    images = [part.url for part in message.parts if isinstance(part, ImagePart)]
    data: dict[str, object] = {"role": message.role, "content": message.text}
    return data | {"images": images} if images else data


def _last(count: int) -> Selection:
    return lambda _, newest_first: list(islice(newest_first, count))[::-1]


def _last_n(s: Surroundings, newest_first: Iterable[Message]) -> list[Message]:
    return _last(max(s.n_messages, 0))(s, newest_first)


def _within_tokens(s: Surroundings, newest_first: Iterable[Message]) -> list[Message]:
    return _filling(newest_first, least=1, most_tokens=s.token_limit)


def _least_and_within_tokens(s: Surroundings, newest_first: Iterable[Message]) -> list[Message]:
    return _filling(newest_first, least=max(s.min_messages, 0), most_tokens=s.max_tokens)


def _filling(newest_first: Iterable[Message], *, least: int, most_tokens: int) -> list[Message]:
    """The newest `least` messages of any size, then further ones, without a gap, as long as they fit."""
    taken: list[Message] = []
    tokens = 0
    for message in newest_first:
        tokens += estimate_prompt_tokens(message.text)
        if len(taken) >= least and tokens > most_tokens:
            break
        taken.append(message)
    return taken[::-1]


def _leading(messages: Sequence[Message]) -> int:
    """The number of leading system messages; 0 if there are no other messages, since then none are left out."""
    return next((i for i, message in enumerate(messages) if message.role not in SYSTEM_ROLES), 0)


def _without_system(messages: Iterable[Message]) -> Iterable[Message]:
    return (message for message in messages if message.role not in SYSTEM_ROLES)


def _chat(select: Selection) -> Callable[[Surroundings], str]:
    def chat(s: Surroundings) -> str:
        messages = s.messages
        if s.endpoint_template is not None:
            turns = select(s, _without_system(reversed(messages)))
        else:
            turns = select(s, islice(reversed(messages), len(messages) - _leading(messages)))
        return s.delimiter.join(_said(s, message) for message in turns)

    return chat


def _templated(select: Selection) -> Callable[[Surroundings], str]:
    def templated(s: Surroundings) -> str:
        turns = select(s, _without_system(reversed(s.messages)))
        return _written(turns, s.endpoint_template)

    return templated


def _said(s: Surroundings, message: Message) -> str:
    return _SPEAKERS.get(message.role, "") + message.text if s.adds_role_names else message.text


def _written(turns: Sequence[Message], template: PromptTemplate | None) -> str:
    if template is None:
        return "".join(message.text for message in turns)
    return formatted(turns, template)


def _chat_without_system(s: Surroundings) -> str:
    turns = [text_message(message.role, _said(s, message)) for message in _without_system(s.messages)]
    return _written(turns, s.chat_template() if s.endpoint_template is not None else None)


def _templated_without_system(s: Surroundings) -> str:
    return _written(list(_without_system(s.messages)), s.endpoint_template)


def _system_text(s: Surroundings) -> str:
    messages = s.messages
    if s.endpoint_template is not None:
        return " ".join(message.text for message in messages if message.role in SYSTEM_ROLES)
    return " ".join(message.text for message in takewhile(lambda message: message.role in SYSTEM_ROLES, messages))


def _chat_system_prompt(s: Surroundings) -> str:
    text = _system_text(s)
    return turn("system", text, s.chat_template()) if s.endpoint_template is not None else text


def _templated_system_prompt(s: Surroundings) -> str:
    text = _system_text(s)
    return text if s.endpoint_template is None else turn("system", text, s.endpoint_template)


_SELECTIONS: Mapping[str, Selection] = {
    **{f"last_{word}": _last(count) for word, count in _COUNTS.items()},
    "n_messages": _last_n,
    "estimated_token_limit": _within_tokens,
    "min_n_max_tokens": _least_and_within_tokens,
}

TURNS: Mapping[str, Callable[[Surroundings], str]] = {
    **{f"chat_user_prompt_{name}": _chat(select) for name, select in _SELECTIONS.items()},
    **{f"templated_user_prompt_{name}": _templated(select) for name, select in _SELECTIONS.items()},
    "chat_system_prompt": _chat_system_prompt,
    "templated_system_prompt": _templated_system_prompt,
    "chat_user_prompt_without_system": _chat_without_system,
    "templated_user_prompt_without_system": _templated_without_system,
}
