"""Checks of the `memory` of nodes: whether endpoints can show it, and whether each node has its own."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mnemoir.conversations.memory_config import MemoryMode
from mnemoir.conversations.turns.history_text import QUERY_MARKER
from mnemoir.ports.llm import COMPLETION_KINDS
from mnemoir.workflows.checking.endpoints import api_type_of
from mnemoir.workflows.checking.nodes import type_of
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import NodeAt, is_open
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.tree import UserTree

_EXAMPLE = 'Set it, for example to {"user": "Human", "assistant": "Assistant"}.'


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
        endpoint = survey.shaped(path, EndpointDefinition)
        name = endpoint.backup if endpoint else ""
