"""The variables a node's texts may name: the time, the conversation, and what the workflow says itself."""

import re
from collections.abc import Mapping
from typing import Final

from mnemoir.workflows.text.conversation import TURNS, as_data
from mnemoir.workflows.text.dates import DATES
from mnemoir.workflows.text.layers import Computed, Layers
from mnemoir.workflows.text.surroundings import Surroundings

__all__ = ["KNOWN", "Surroundings", "Variables", "is_known"]

_NUMBERED = re.compile(r"agent[1-9][0-9]*(?:Input|Output)")
_OF_A_CATEGORIZER = (
    "category_colon_descriptions",
    "category_colon_descriptions_newline_bulletpoint",
    "categoriesSeparatedByOr",
    "categoryNameBulletpoints",
    "category_list",
    "category_descriptions",
)

KNOWN: Final = frozenset({"messages", "Discussion_Id", "time_context_summary", *_OF_A_CATEGORIZER, *TURNS, *DATES})


class Variables(Layers):
    """All variables by name, each worked out when it is first asked for and then kept.

    A name that two sources give means the value of the one that stands first below.
    """

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = s = surroundings
        super().__init__(
            (
                Computed({"messages": as_data}, s.messages),
                s.categories,
                {f"agent{number}Output": value for number, value in s.outputs.items()},
                _inputs(s),
                Computed(TURNS if s.messages else {}, s),
                {"Discussion_Id": s.discussion or "", "time_context_summary": s.time_context},
                s.custom,
                Computed(DATES, s.now),
                s.user_wide,
            ),
            authored=(s.custom, s.user_wide),
        )

    def early(self) -> Mapping[str, object]:
        """What is known before a node is made: {agentNInput} and the variables of the workflow and the user."""
        s = self._surroundings
        return Layers((_inputs(s), s.custom, s.user_wide), authored=(s.custom, s.user_wide))


def is_known(name: str) -> bool:
    """Whether this module can give the variable, in some workflow at some time; those of a file are its own."""
    return name in KNOWN or _NUMBERED.fullmatch(name) is not None


def _inputs(surroundings: Surroundings) -> Mapping[str, object]:
    return {f"agent{number}Input": value for number, value in enumerate(surroundings.inputs, 1)}
