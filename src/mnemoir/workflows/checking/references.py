"""Whether what a node names is there: its endpoints and its preset."""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemoir.workflows.checking.endpoints import api_type_of
from mnemoir.workflows.checking.nodes import type_of
from mnemoir.workflows.checking.problem import Place
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import NodeAt, is_open
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.node import ModelProperties


def check_references(survey: Survey, user: UserTree, node: NodeAt) -> None:
    """What a node asks a model with. Names with variables in them are only known at run time."""
    raw, preset = node.raw, node.raw.get("preset")
    endpoints = [(place, name) for place, name in _endpoints_of(node) if not is_open(name)]
    for place, name in endpoints:
        path = survey.locate(place, "endpoint", name, user.endpoint_folders())
        if path and isinstance(preset, str) and preset and not is_open(preset):
            _check_preset(survey, user, node.place / "preset", preset, path)
    kind = type_of(survey, raw)
    asks = kind is not None and issubclass(kind.properties_type, ModelProperties)
    if asks and not raw.get("endpointName") and not raw.get("multiModelList"):
        cause = f"A node of type {raw.get('type') or 'Standard'} asks a model, and none is named."
        survey.tell(node.place / "endpointName", cause, "Name a file in Endpoints.")


def _endpoints_of(node: NodeAt) -> Iterator[tuple[Place, str]]:
    yield from _named(node.place, node.raw)
    listed = node.raw.get("multiModelList")
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(item, dict):
            yield from _named(node.place / "multiModelList" / index, item)


def _named(place: Place, raw: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    name = raw.get("endpointName")
    if isinstance(name, str) and name:
        yield place / "endpointName", name


def _check_preset(survey: Survey, user: UserTree, place: Place, name: str, endpoint: str) -> None:
    api_type = api_type_of(survey, endpoint)
    if api_type is None:
        return
    if api_type.preset_type and not survey.allows(place, api_type.preset_type):
        return
    found = survey.locate(place, "preset", name, user.preset_folders(api_type))
    if found and survey.raw(found) is not None and not isinstance(survey.raw(found), dict):
        survey.tell(survey.place(found), "A preset is an object.", "Put its settings between { and }.")
