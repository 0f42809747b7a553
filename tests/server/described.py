"""The server's description of itself, held against what it really answers."""

from collections.abc import Iterator
from typing import Any

import orjson
from jsonschema import Draft202012Validator

from mnemoir.providers.http import AsgiAnswer
from tests.server.server_kit import JSON

_METHODS = ("get", "post", "put", "patch", "delete")


class Description:
    """`GET /openapi.json`, asked what it says of a path, a method, an answer."""

    def __init__(self, schema: JSON) -> None:
        self.schema = schema

    def operations(self) -> Iterator[tuple[str, str, JSON]]:
        """Method, path and description of all."""
        for path, methods in self.schema["paths"].items():
            for method in _METHODS:
                if method in methods:
                    yield method, path, methods[method]

    def misfits(self, method: str, path: str, answer: AsgiAnswer) -> list[str]:
        """Where a JSON answer of `path`, spelled as in the description, is not as described."""
        kind = answer.headers["content-type"].partition(";")[0]
        schema = self.schema_of(method, path, answer.status, kind)
        return self.misfits_of(orjson.loads(answer.body), schema)

    def misfits_of(self, value: Any, schema: JSON) -> list[str]:
        """Where a value does not fit a schema of the description."""
        whole = {"$ref": "#/whole", "whole": schema, "components": self.schema["components"]}
        return [
            f"{error.json_path}: {error.message[:300]}" for error in Draft202012Validator(whole).iter_errors(value)
        ]

    def schema_of(self, method: str, path: str, status: int, kind: str) -> JSON:
        """What is said of an answer; {} when nothing is."""
        responses = self.schema["paths"][path][method]["responses"]
        told = responses.get(str(status)) or responses.get("default", {})
        found: JSON = told.get("content", {}).get(kind, {}).get("schema", {})
        return found
