"""What OpenAI's model families take: the reasoning models refuse what the others are steered by."""

_REASONING = ("gpt-5", "o1", "o3", "o4")


def is_reasoning_model(model: str | None) -> bool:
    """Whether `model` refuses temperature and top_p, and calls its limit `max_completion_tokens`.

    A vendor in front, as in `openai/gpt-5-mini`, does not count.
    """
    return (model or "").rpartition("/")[2].startswith(_REASONING)


def effort_for(model: str | None, effort: str | None) -> str | None:
    """The reasoning effort to send; `minimal` only to models known to take it.

    It is what memory asks for in every call, and models that do not reason refuse the whole request for it. A client
    that asks for more knows its model.
    """
    return None if effort == "minimal" and not is_reasoning_model(model) else effort
