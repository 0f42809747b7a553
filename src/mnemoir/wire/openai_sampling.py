"""How OpenAI's chat and text completions say which words to pick, both ways."""

from typing import Any

from mnemoir.core.errors import NotSupported
from mnemoir.core.messages import Sampling
from mnemoir.wire import members
from mnemoir.wire.members import Json

MOST_CHOICES = 8
SAMPLING = frozenset(
    {"temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "n"}
    | {"presence_penalty", "frequency_penalty"}
)
"""Members that are read here."""
_AS_THE_SERVER_LIKES = Sampling()


def read_choices(body: Json) -> int:
    """How many answers are wanted. Raises InvalidRequest for none, and NotSupported for more than MOST_CHOICES."""
    wanted = members.integer(body, "n", least=1) or 1
    if wanted > MOST_CHOICES:
        raise NotSupported(f"n must be at most {MOST_CHOICES}, it is {wanted}.", field="n")
    return wanted


def read_sampling(body: Json) -> Sampling:
    """The members a client set; the newer name of the limit goes before the older one."""
    limit = members.integer(body, "max_completion_tokens", least=1)
    return Sampling(
        temperature=members.number(body, "temperature"),
        top_p=members.number(body, "top_p"),
        max_tokens=limit if limit is not None else members.integer(body, "max_tokens", least=1),
        stop=members.texts(body, "stop"),
        seed=members.integer(body, "seed"),
        presence_penalty=members.number(body, "presence_penalty"),
        frequency_penalty=members.number(body, "frequency_penalty"),
    )


def write_sampling(sampling: Sampling, *, reasoning: bool = False) -> dict[str, Any]:
    """Older servers know only `max_tokens`, the reasoning models only the other name, and no temperature."""
    if sampling == _AS_THE_SERVER_LIKES:  # as nearly all chats leave it
        return {}
    given: dict[str, Any] = {
        "max_completion_tokens" if reasoning else "max_tokens": sampling.max_tokens,
        "stop": list(sampling.stop) or None,
        "seed": sampling.seed,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
    }
    if not reasoning:
        given |= {"temperature": sampling.temperature, "top_p": sampling.top_p}
    return {name: value for name, value in given.items() if value is not None}
