"""The reader of a settings file: YAML of plain values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mnemoir.core.errors import SettingsError

_DEEPEST = 20
MOST_BYTES = 1024 * 1024


class _Loader(yaml.SafeLoader):
    """A YAML loader of plain values that refuses aliases, deep nesting and duplicate keys."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not supported; write the value out", problem_mark=mark)
        if self.depth >= _DEEPEST:
            raise yaml.MarkedYAMLError(problem="nested too deeply", problem_mark=mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in seen:
                problem = (
                    f"the key {key.value} is there twice"
                    if isinstance(key, yaml.ScalarNode)
                    else "a key must be a plain word"
                )
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def read_yaml(path: Path) -> Mapping[Any, Any]:
    """The file's mapping; empty for an empty file. Raises SettingsError that names the file and the line."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as exc:
        raise SettingsError(f"{path}: cannot be read: {exc.strerror}.") from exc
    if len(raw) > MOST_BYTES:
        raise SettingsError(f"{path}: is larger than {MOST_BYTES} bytes, so it is not a settings file.")
    try:
        value = yaml.load(raw, Loader=_Loader)  # _Loader is a SafeLoader
    except yaml.MarkedYAMLError as exc:
        line = f" in line {exc.problem_mark.line + 1}" if exc.problem_mark else ""
        raise SettingsError(f"{path}: is not valid YAML{line}: {exc.problem}.") from None
    except (yaml.YAMLError, ValueError) as exc:  # unreadable characters, an impossible date
        raise SettingsError(f"{path}: is not valid YAML: {type(exc).__name__}.") from None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SettingsError(f"{path}: must hold sections such as 'server:', not a single value or a list.")
    return value
