"""The settings of fact memory, and the limits that are not settings."""

from dataclasses import dataclass

MOST_FACTS = 100  # of one add; an answer with more is a model failure
MOST_CHARACTERS = 2000  # of one fact


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSettings:
    """The server's own settings; a project may set `decay_days` and `search_limit` over them.

    `window_tokens` bounds the conversation shown in one model call, `answer_tokens` what the model may write.
    `alike_floor` is the cosine from which a stored memory is worth showing to the model beside a new fact. Measured
    with MiniLM on 60 pairs of everyday facts: pairs that settle each other have 0.21 to 0.96 ("Is married to Tom" and
    "Is single" 0.24), pairs about different things 0.01 to 0.15, a few neighbours of a subject up to 0.3.
    """

    decay_days: float | None = None
    touch_on_none: bool = False
    search_limit: int = 5
    window_tokens: int = 8000
    answer_tokens: int = 4000
    alike_floor: float = 0.2
