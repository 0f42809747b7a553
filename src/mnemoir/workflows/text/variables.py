"""The variables of a node's texts: the time, the conversation, and variables of the workflow and the user.

If the node's endpoint takes messages, turns are joined as they are. If it takes a text prompt, turns of templated_*
variables are formatted by the endpoint's template, and system messages of the client are left out of the turns. Both
rules come from WilmerAI. Each variable reads only as much of the conversation as it needs.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, takewhile
from typing import Any, Final

from mnemoir.core.messages import ImagePart, Message, text_message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.workflows.config.endpoint import PromptTemplate
from mnemoir.workflows.prompting.assembly import formatted_turns, turn
from mnemoir.workflows.prompting.history import SYSTEM_ROLES
from mnemoir.workflows.text.filling import Computed, Layers

DATES: Mapping[str, Callable[[datetime], str]] = {
    "todays_date_pretty": lambda now: now.strftime("%B %d, %Y"),
    "todays_date_iso": lambda now: now.strftime("%Y-%m-%d"),
    "YYYY_MM_DD": lambda now: now.strftime("%Y_%m_%d"),
    "current_time_12h": lambda now: now.strftime("%I:%M %p").removeprefix("0"),
    "current_time_24h": lambda now: now.strftime("%H:%M"),
    "current_month_full": lambda now: now.strftime("%B"),
    "current_day_of_week": lambda now: now.strftime("%A"),
    "current_day_of_month": lambda now: now.strftime("%d"),
}
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}
_SPEAKERS = {
    "user": "User: ",
    "assistant": "Assistant: ",
    "system": "System: ",
    "developer": "System: ",
    "systemMes": "System: ",
    "tool": "Tool Result: ",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The data from which variables are computed.

    `now` is local and aware. `endpoint_template` is set for an endpoint that takes a text prompt: turns are then
    formatted by it, and by the user's `chat_template`, which is called only when needed. `delimiter` joins turns in
    chat_* variables; with `adds_role_names` each turn begins with its role. The numbers are the limits of variables
    with the same names, in messages or estimated tokens.
    """

    messages: Sequence[Message]
    now: datetime
    endpoint_template: PromptTemplate | None = None
    chat_template: Callable[[], PromptTemplate] = lambda: PromptTemplate.model_validate({})
    user_wide: Mapping[str, Any] = field(default_factory=dict)  # JSON
    custom: Mapping[str, Any] = field(default_factory=dict)  # JSON: members of the workflow file beside its nodes
    discussion: str | None = None
    time_context: str = ""
    inputs: Sequence[object] = ()
    outputs: Mapping[int, object] = field(default_factory=dict)
    categories: Mapping[str, object] = field(default_factory=dict)
    delimiter: str = "\n"
    adds_role_names: bool = False
    n_messages: int = 5
    token_limit: int = 2048
    min_messages: int = 5
    max_tokens: int = 2048


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
        return s.delimiter.join(_text_with_speaker(s, message) for message in turns)

    return chat


def _templated_turns(select: Selection) -> Callable[[Surroundings], str]:
    def text_of_turns(s: Surroundings) -> str:
        turns = select(s, _without_system(reversed(s.messages)))
        return _turns_as_text(turns, s.endpoint_template)

    return text_of_turns


def _text_with_speaker(s: Surroundings, message: Message) -> str:
    return _SPEAKERS.get(message.role, "") + message.text if s.adds_role_names else message.text


def _turns_as_text(turns: Sequence[Message], template: PromptTemplate | None) -> str:
    if template is None:
        return "".join(message.text for message in turns)
    return formatted_turns(turns, template)


def _chat_without_system(s: Surroundings) -> str:
    turns = [text_message(message.role, _text_with_speaker(s, message)) for message in _without_system(s.messages)]
    return _turns_as_text(turns, s.chat_template() if s.endpoint_template is not None else None)


def _templated_without_system(s: Surroundings) -> str:
    return _turns_as_text(list(_without_system(s.messages)), s.endpoint_template)


def _system_text(s: Surroundings, joint: str = " ") -> str:
    messages = s.messages
    if s.endpoint_template is not None:
        return joint.join(message.text for message in messages if message.role in SYSTEM_ROLES)
    return joint.join(message.text for message in takewhile(lambda message: message.role in SYSTEM_ROLES, messages))


def _client_instructions(s: Surroundings) -> str:
    return _system_text(s, "\n\n")


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
    **{f"templated_user_prompt_{name}": _templated_turns(select) for name, select in _SELECTIONS.items()},
    "chat_system_prompt": _chat_system_prompt,
    "templated_system_prompt": _templated_system_prompt,
    "client_instructions": _client_instructions,
    "chat_user_prompt_without_system": _chat_without_system,
    "templated_user_prompt_without_system": _templated_without_system,
}


__all__ = ["INSTRUCTIONS", "KNOWN", "Surroundings", "Variables", "is_known"]

_NUMBERED = re.compile(r"agent[1-9][0-9]*(?:Input|Output)")
_OF_A_CATEGORIZER = (
    "category_colon_descriptions",
    "category_colon_descriptions_newline_bulletpoint",
    "categoriesSeparatedByOr",
    "categoryNameBulletpoints",
    "category_list",
    "category_descriptions",
)

INSTRUCTIONS: Final = ("chat_system_prompt", "templated_system_prompt", "client_instructions")
KNOWN: Final = frozenset({"messages", "Discussion_Id", "time_context_summary", *_OF_A_CATEGORIZER, *TURNS, *DATES})


class Variables(Layers):
    """All variables by name, each computed when it is first read and then cached.

    If several sources have a name, the first one below gives the value.
    """

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = s = surroundings
        super().__init__(
            (
                Computed({"messages": as_data}, s.messages),
                s.categories,
                {f"agent{number}Output": value for number, value in s.outputs.items()},
                _inputs(s),
                Computed(TURNS, s),
                {"Discussion_Id": s.discussion or "", "time_context_summary": s.time_context},
                s.custom,
                Computed(DATES, s.now),
                s.user_wide,
            ),
            authored=(s.custom, s.user_wide),
        )

    def early(self) -> Mapping[str, object]:
        """The variables known before a node runs: {agentNInput} and the variables of the workflow and the user."""
        s = self._surroundings
        return Layers((_inputs(s), s.custom, s.user_wide), authored=(s.custom, s.user_wide))


def is_known(name: str) -> bool:
    """True for a variable that this module can give in some workflow, other than the variables of files."""
    return name in KNOWN or _NUMBERED.fullmatch(name) is not None


def _inputs(surroundings: Surroundings) -> Mapping[str, object]:
    return {f"agent{number}Input": value for number, value in enumerate(surroundings.inputs, 1)}
