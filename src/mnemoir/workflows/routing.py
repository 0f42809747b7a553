"""Prompt routing: what a categoriser's answer means."""

import string
from collections.abc import Iterable, Mapping

from mnemoir.workflows.config.routing import RoutingTable

UNKNOWN = "UNKNOWN"
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def category_variables(table: RoutingTable) -> dict[str, object]:
    """The variables a categoriser's prompts may name, in the order of the table."""
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
    """The category an answer names; None when it names none.

    Whole words and phrases count before parts of words: first the name that stands earliest in the answer, the longer
    one where two begin together; then the first word, in the order of the answer, that has a category's name in it,
    categories in the order of the table.
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
