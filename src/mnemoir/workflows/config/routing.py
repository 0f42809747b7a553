"""Routing tables, a categoriser's variables, and the category in its answer."""

import string
from collections.abc import Iterable, Mapping

from pydantic import ConfigDict, Field, RootModel

from mnemoir.workflows.config.model import ConfigModel, Line

UNKNOWN = "UNKNOWN"
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


class Route(ConfigModel):
    """The value of one category."""

    description: Line = Field(description="What belongs to it, for the categoriser's prompt.")
    workflow: Line = Field(description="The workflow that answers such a message.")


class RoutingTable(RootModel[Mapping[str, Route]]):
    """The file `Routing/<Name>.json`. The order of its categories is the matching order."""

    model_config = ConfigDict(frozen=True)


def category_variables(table: RoutingTable) -> dict[str, object]:
    """The variables for a categoriser's prompts; categories are in the order of the table."""
    routes = table.root
    described = [f"{name}: {route.description}" for name, route in routes.items()]
    return {
        "category_colon_descriptions": "; ".join(described),
        "category_colon_descriptions_newline_bulletpoint": _bullets(described),
        "categoriesSeparatedByOr": " or ".join(routes),
        "categoryNameBulletpoints": _bullets(routes),
        "category_list": list(routes),
        "category_descriptions": [route.description for route in routes.values()],
    }


def chosen_category(answer: object, table: RoutingTable) -> str | None:
    """The category named in an answer; None without one.

    Whole words and phrases take precedence over parts of words. Of whole names the one earliest in the answer is
    chosen, of two at the same position the longer; else the first word of the answer that contains a category's name,
    with categories in the order of the table.
    """
    words = _plain(UNKNOWN if answer is None else str(answer)).split()
    names = {name: _plain(name).split() for name in table.root}
    return _exact(words, names) or _within(words, names)


def _exact(words: list[str], names: Mapping[str, list[str]]) -> str | None:
    found = [
        (start, -len(parts), name)
        for name, parts in names.items()
        if parts
        for start in range(len(words) - len(parts) + 1)
        if words[start : start + len(parts)] == parts
    ]
    return min(found, key=lambda place: place[:2])[2] if found else None


def _within(words: list[str], names: Mapping[str, list[str]]) -> str | None:
    for word in words:
        for name, parts in names.items():
            if len(parts) == 1 and parts[0] in word:
                return name
    return None


def _plain(text: str) -> str:
    return text.strip().translate(_NO_PUNCTUATION).upper()


def _bullets(lines: Iterable[str]) -> str:
    return "".join(f"\n- {line}" for line in lines)
