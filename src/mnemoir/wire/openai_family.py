"""What OpenAI's model families take: the reasoning models refuse what the others are steered by."""

from mnemoir.core.messages import ModelRequest

_REASONING = ("gpt-5", "o1", "o3", "o4")


def is_reasoning_model(model: str | None) -> bool:
    """Whether `model` refuses temperature and top_p, and calls its limit `max_completion_tokens`.

    A vendor in front, as in `openai/gpt-5-mini`, does not count.
    """
    return (model or "").rpartition("/")[2].startswith(_REASONING)


def effort_of(request: ModelRequest) -> str | None:
    """The reasoning effort to send; None leaves it to the model.

    A client's level goes out as it is. Memory's own calls want no reasoning, which only the models known to take
    `minimal` are told: others refuse the whole request for it.
    """
    if request.reasoning_effort is not None:
        return request.reasoning_effort
    return "minimal" if request.think is False and is_reasoning_model(request.model) else None
