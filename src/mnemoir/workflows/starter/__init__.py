"""The starter tree: a config tree to copy and change, with a working example for each of its users.

`Public` beside this file is the tree to copy, and `modules` are Python modules for it. A server does not read either
of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

import orjson

FIRST_USER = "single-model"
FOLDERS = ("DiscussionIds",)  # empty folders of the tree
_OLLAMA, _OTHER = "local-ollama", "first-model"  # names of the first endpoint
_ENDPOINTS = (_OLLAMA, "second-model", "vision-model")


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterServer:
    """The model server for the examples; None keeps the value in the tree."""

    url: str | None = None
    model: str | None = None
    api_type: str | None = None

    @property
    def first_endpoint(self) -> str:
        """The path of the first endpoint in the tree, named after Ollama only where it is one."""
        return _path(_OTHER if self._is_another else _OLLAMA)

    @property
    def _is_another(self) -> bool:
        return self.api_type is not None and not self.api_type.startswith("Ollama")

    def with_endpoint_name(self, file: str | bytes) -> bytes:
        """The path or the text of a file, with the name of the first endpoint."""
        text = file.encode() if isinstance(file, str) else file
        return text.replace(_OLLAMA.encode(), _OTHER.encode()) if self._is_another else text


def starter_files(server: StarterServer) -> Mapping[str, bytes]:
    """The files of the whole tree: contents by path, with slashes. All examples ask `server`."""
    here = files(__name__)
    tree = {path: file.read_bytes() for path, file in _below(here / "Public")}
    tree |= {f"modules/{path}": file.read_bytes() for path, file in _below(here / "modules")}
    tree |= {path: _asking(server, tree[path]) for path in map(_path, _ENDPOINTS)}
    return {
        server.with_endpoint_name(path).decode(): server.with_endpoint_name(content) for path, content in tree.items()
    }


def api_types() -> list[str]:
    """The names of the API types in the tree, in order."""
    return _names("ApiTypes")


def users() -> list[str]:
    """The users of the tree, one for each example, in order."""
    return [name for name in _names("Users") if not name.startswith("_")]


def _path(endpoint: str) -> str:
    return f"Configs/Endpoints/{endpoint}.json"


def _names(folder: str) -> list[str]:
    found = (files(__name__) / "Public" / "Configs" / folder).iterdir()
    return sorted(file.name.removesuffix(".json") for file in found)


def _below(folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_file():
            yield entry.name, entry
        elif entry.name != "__pycache__":
            yield from ((f"{entry.name}/{path}", file) for path, file in _below(entry))


def _asking(server: StarterServer, endpoint: bytes) -> bytes:
    given = {
        "endpoint": server.url and server.url.rstrip("/").removesuffix("/v1"),  # the protocol adds it
        "modelNameToSendToAPI": server.model,
        "apiTypeConfigFileName": server.api_type,
    }
    changed = orjson.loads(endpoint) | {key: value for key, value in given.items() if value}
    return orjson.dumps(changed, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
