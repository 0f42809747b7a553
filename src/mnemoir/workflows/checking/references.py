"""Whether what a node names is there: its endpoints and its preset."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mnemoir.workflows.checking.endpoints import api_type_of
from mnemoir.workflows.checking.nodes import type_of
from mnemoir.workflows.checking.problem import Place
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import NodeAt, is_open
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.node import ModelProperties


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The name of a file, and where it is written."""

    place: Place
    name: str


def check_references(survey: Survey, user: UserTree, node: NodeAt) -> None:
    """What a node asks a model with. Names with variables in them are only known at run time."""
    raw, preset = node.raw, node.raw.get("preset")
    named = Named(place=node.place / "preset", name=preset if isinstance(preset, str) else "")
    for endpoint in _endpoints_of(node):
        check_model(survey, user, endpoint, named)
    kind = type_of(survey, raw)
    asks = kind is not None and issubclass(kind.properties_type, ModelProperties)
    if asks and not raw.get("endpointName") and not raw.get("multiModelList"):
        cause = f"A node of type {raw.get('type') or 'Standard'} asks a model, and none is named."
        survey.tell(node.place / "endpointName", cause, "Name a file in Endpoints.")


def check_model(survey: Survey, user: UserTree, endpoint: Named, preset: Named) -> None:
    """An endpoint, and the preset it is asked with; "" names none."""
    if is_open(endpoint.name):
        return
    survey.endpoints.setdefault((user.name, endpoint.name), set()).add(endpoint.place.file)
    path = survey.locate(endpoint.place, "endpoint", endpoint.name, user.endpoint_folders())
    if path and preset.name and not is_open(preset.name):
        _check_preset(survey, user, preset.place, preset.name, path)


def _endpoints_of(node: NodeAt) -> Iterator[Named]:
    yield from _named(node.place, node.raw)
    listed = node.raw.get("multiModelList")
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(item, dict):
            yield from _named(node.place / "multiModelList" / index, item)


def _named(place: Place, raw: Mapping[str, Any]) -> Iterator[Named]:
    name = raw.get("endpointName")
    if isinstance(name, str) and name:
        yield Named(place=place / "endpointName", name=name)


def _check_preset(survey: Survey, user: UserTree, place: Place, name: str, endpoint: str) -> None:
    api_type = api_type_of(survey, endpoint)
    if api_type is None:
        return
    if api_type.preset_type and not survey.allows(place, api_type.preset_type):
        return
    found = survey.locate(place, "preset", name, user.preset_folders(api_type))
    if found and survey.raw(found) is not None and not isinstance(survey.raw(found), dict):
        survey.tell(survey.place(found), "A preset is an object.", "Put its settings between { and }.")
