"""Parameters that OpenAI's model families accept: the reasoning models refuse the sampling members of the others."""

from mnemoir.core.messages import ModelRequest

_REASONING = ("gpt-5", "o1", "o3", "o4")


def is_reasoning_model(model: str | None) -> bool:
    """True when `model` refuses temperature and top_p, and names its limit `max_completion_tokens`.

    A vendor prefix, as in `openai/gpt-5-mini`, is ignored.
    """
    return (model or "").rpartition("/")[2].startswith(_REASONING)


def effort_of(request: ModelRequest) -> str | None:
    """The reasoning effort to send; None leaves it to the model.

    A client's level is sent unchanged. Memory's own calls need no reasoning; `minimal` is sent only to models known
    to accept it: others refuse the whole request for it.
    """
    if request.reasoning_effort is not None:
        return request.reasoning_effort
    return "minimal" if request.think is False and is_reasoning_model(request.model) else None
