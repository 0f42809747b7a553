"""The variables of a node's texts: the time, the conversation, and variables of the workflow and the user."""

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
                Computed(TURNS if s.messages else {}, s),
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
