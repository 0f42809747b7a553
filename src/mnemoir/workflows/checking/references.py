"""Checks of a node's names, memory and paths: what it names exists, and its endpoints can show its memory."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mnemoir.conversations.memory_config import MemoryMode
from mnemoir.conversations.turns.token_buffer import QUERY_MARKER
from mnemoir.ports.llm import COMPLETION_KINDS
from mnemoir.workflows.checking.endpoints import api_type_of, check_preset_file, reason_for_refusal
from mnemoir.workflows.checking.nodes import type_name, type_of
from mnemoir.workflows.checking.survey import FilePosition, Level, Survey
from mnemoir.workflows.checking.workflows import NodeAt, is_open
from mnemoir.workflows.config.endpoint import ApiType, EndpointDefinition
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.discussion_files import DISCUSSIONS, own_directory
from mnemoir.workflows.node import ModelProperties

_EXAMPLE = 'Set it, for example to {"user": "Human", "assistant": "Assistant"}.'
# by node type: a chat continues without a file that cannot be read, and fails at one that must not be written
_LEVELS: Mapping[str, Level] = {"getcustomfile": "warning", "savecustomfile": "error"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The name of a file, and the position that names it."""

    place: FilePosition
    name: str


def check_references(survey: Survey, user: UserTree, node: NodeAt) -> None:
    """Check the endpoints and the preset of a node. Names with variables are skipped: they are known at run time."""
    raw, preset = node.raw, node.raw.get("preset")
    named = Named(place=node.place / "preset", name=preset if isinstance(preset, str) else "")
    for endpoint in _endpoints_of(node):
        check_model(survey, user, endpoint, named)
    kind = type_of(survey, raw)
    asks = kind is not None and issubclass(kind.properties_type, ModelProperties)
    if asks and not raw.get("endpointName") and not raw.get("multiModelList"):
        cause = f"A node of type {raw.get('type') or 'Standard'} asks a model, but names no endpoint."
        survey.report(node.place / "endpointName", cause, "Name a file in Endpoints.")


def check_model(survey: Survey, user: UserTree, endpoint: Named, preset: Named) -> None:
    """Check an endpoint and the preset for it; "" names none."""
    if is_open(endpoint.name):
        return
    survey.endpoints.setdefault((user.name, endpoint.name), set()).add(endpoint.place.file)
    path = survey.locate(endpoint.place, "endpoint", endpoint.name, user.endpoint_folders())
    api_type = api_type_of(survey, path) if path else None
    if api_type is None:
        return
    if cause := reason_for_refusal(api_type):
        survey.report(endpoint.place, cause, "Name an endpoint of another type.")
    elif preset.name and not is_open(preset.name):
        _check_preset(survey, user, preset, api_type)


def _endpoints_of(node: NodeAt) -> Iterator[Named]:
    yield from _named_endpoint(node.place, node.raw)
    listed = node.raw.get("multiModelList")
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(item, dict):
            yield from _named_endpoint(node.place / "multiModelList" / index, item)


def _named_endpoint(place: FilePosition, raw: Mapping[str, Any]) -> Iterator[Named]:
    name = raw.get("endpointName")
    if isinstance(name, str) and name:
        yield Named(place=place / "endpointName", name=name)


def _check_preset(survey: Survey, user: UserTree, preset: Named, api_type: ApiType) -> None:
    """Check the name of a preset: an endpoint with samplers, else a preset file."""
    if not survey.allows(preset.place, preset.name):
        return
    lender = survey.tree.find("preset", preset.name, user.endpoint_folders())
    endpoint = survey.file_as_model(lender.path, EndpointDefinition) if lender else None
    if lender and endpoint is None:
        return
    if endpoint is None or endpoint.samplers is None:
        absent = user.absent_preset(preset.name, user.preset_folders(api_type))
        check_preset_file(survey, user, preset.place, preset.name, api_type, absent)
    elif endpoint.samplers and not api_type.sampler_names:
        cause = f"The samplers of {preset.name} are not sent: the API type of the endpoint asked names none of them."
        survey.report(preset.place, cause, "Add samplerFieldMap to the API type.", "warning")


def check_memory(survey: Survey, user: UserTree, node: NodeAt) -> None:
    """Report problems of a memory other than its shape."""
    memory = _memory_of(survey, node)
    if memory is None:
        return
    place = node.place / "memory"
    if memory.get("role_prefix") is None:
        for name in _text_endpoints(survey, user, node.raw.get("endpointName")):
            cause = f"Endpoint {name} completes a text, and no role_prefix names both sides in it."
            survey.report(place / "role_prefix", cause, _EXAMPLE)
    window = memory.get("window")
    size = window.get("size") if isinstance(window, dict) else None
    if isinstance(size, int) and size < 1:
        survey.report(place / "window" / "size", "It sets no limit.", "Give 1 or more, or leave it out.", "warning")
    if memory.get("query_prompt_template") and node.raw.get("prompt") and not _names(node.raw, QUERY_MARKER):
        cause = f"It is not sent: the node has a prompt, and no {QUERY_MARKER} in it."
        survey.report(place / "query_prompt_template", cause, "Put the mark there, or remove the prompt.", "warning")


def check_own_memories(survey: Survey, nodes: Iterable[NodeAt]) -> None:
    """Report nodes that share one memory because they have the same id."""
    first: dict[str, NodeAt] = {}
    for node in nodes:
        memory, id = _memory_of(survey, node), node.raw.get("id")
        if memory is None or memory.get("mode") != MemoryMode.NODE or not isinstance(id, str | int):
            continue
        other = first.setdefault(str(id).strip(), node)
        if other is not node and str(id).strip():
            cause = f"It has one memory with {other.place.path} of {other.place.file}: both have the id {id!r}."
            fix = "Give it an id of its own, unless both are to remember the same."
            survey.report(node.place / "id", cause, fix, "warning")


def _memory_of(survey: Survey, node: NodeAt) -> Mapping[str, Any] | None:
    kind, memory = type_of(survey, node.raw), node.raw.get("memory")
    reads_it = kind is not None and "memory" in kind.properties_type.model_fields
    return memory if reads_it and isinstance(memory, dict) else None


def _names(raw: Mapping[str, Any], mark: str) -> bool:
    return any(mark in text for key in ("systemPrompt", "prompt") if isinstance(text := raw.get(key), str))


def _text_endpoints(survey: Survey, user: UserTree, name: object) -> Iterator[str]:
    """The text completion endpoints among the endpoint and its backups."""
    seen: set[str] = set()
    while isinstance(name, str) and name and not is_open(name) and name not in seen:
        seen.add(name)
        path = survey.find("endpoint", name, user.endpoint_folders())
        if path is None:  # reported by the check of the name
            return
        api_type = api_type_of(survey, path)
        if api_type is not None and api_type.kind in COMPLETION_KINDS:
            yield name
        endpoint = survey.file_as_model(path, EndpointDefinition)
        name = endpoint.backup if endpoint else ""


def check_discussion_directory(survey: Survey, place: FilePosition, settings: UserSettings) -> None:
    """Report a directory of discussions that can be neither created nor written. Leaves no file behind."""
    public = survey.tree.public
    directory = own_directory(settings.discussion_directory, public, public / DISCUSSIONS)
    if survey.outside is None or survey.outside.discussion_directory or directory == public / DISCUSSIONS:
        return
    existing = next(path for path in (directory, *directory.parents) if os.path.lexists(path))
    try:
        with tempfile.TemporaryFile(dir=existing):  # permission bits do not suffice: the root user has them all
            return
    except OSError as exc:
        cause = f"Memories of discussions are lost: {directory} cannot be created or written ({exc.strerror or exc})."
    survey.report(place, cause, f"Name a directory that the server may write, or none to use {public / DISCUSSIONS}.")


def check_path(survey: Survey, node: NodeAt) -> None:
    """Report a path without variables that file nodes may not read or write."""
    level, path = _LEVELS.get(type_name(node.raw)), node.raw.get("filepath")
    if level is None or survey.outside is None or not isinstance(path, str) or not path.strip() or is_open(path):
        return
    if refusal := survey.outside.user_files.refusal(path.strip()):
        survey.report(node.place / "filepath", refusal.cause, refusal.fix, level)
