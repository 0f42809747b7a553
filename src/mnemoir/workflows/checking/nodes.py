"""Checks of single nodes: the type is known, and the properties belong to that type."""

from collections.abc import Mapping, Set
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from mnemoir.workflows.checking.survey import FilePosition, Survey, nearest
from mnemoir.workflows.node import ModelProperties, Node

_LATER_TYPES = {
    "contextcompactor",
    "conversationchunkprocessor",
    "curlcommand",
    "mcptoolcall",
    "offlineresearcherapideepresearch",
    "offlineresearcherapiquicksearch",
    "webfetch",
}

# notes of people, which no node reads
_NOTES = {"id", "name", "displayonlycomment", "isresponder", "comment", "comments", "description", "note", "notes"}

# read for nodes of any type: they set the size of conversation variables
_OF_EVERY_TYPE = {
    "addUserAssistantTags",
    "estimatedTokensToIncludeInVariable",
    "maxEstimatedTokensInVariable",
    "minMessagesInVariable",
    "nMessagesToIncludeInVariable",
}

# of newer releases of the format: without effect here yet, but not misspelled
LATER = {
    "appendNativeToolExchange",
    "clampPromptToContextWindow",
    "includeToolCallsInConversation",
    "injectLivenessToolCall",
    "insertUserTurnBetweenAssistantMessages",
    "lastMessagesToSendInsteadOfPromptMaxTokenSize",
    "lowercaseToolCallFunctionNames",
    "mergeConsecutiveAssistantMessages",
    "saveVisionResponsesToDiscussionId",
    "structuredOutputFile",
    "useEntityExpansion",
}
# belong to one of the properties above, and have no effect without it
LATER_DETAILS = {"insertedUserTurnText", "mergeConsecutiveAssistantMessagesDelimiter", "visionScanMessageLimit"}
_OFF = ("", "0", "false", "no", "none", "off")


def check_node(survey: Survey, place: FilePosition, raw: Mapping[str, Any]) -> None:
    """Check the node itself, but not the files that it names."""
    kind = type_of(survey, raw)
    if kind is None:
        _report_unknown_type(survey, place / "type", raw)
        return
    try:
        kind.properties_type.model_validate(raw)
    except ValidationError as exc:
        survey.report_faults(place, exc)
    _check_keys(survey, place, raw, kind)


def type_of(survey: Survey, raw: Mapping[str, Any]) -> type[Node[Any]] | None:
    """The class of the node; None for an unknown type."""
    return survey.types.get(type_name(raw))


def type_name(raw: Mapping[str, Any]) -> str:
    """The node's type in lower case; `standard` for a node without a type."""
    return str(raw.get("type") or "Standard").lower()


def is_note(key: str) -> bool:
    """True for a key that people use for notes."""
    return key.lower() in _NOTES or key.startswith("_")


@cache
def keys_of(model: type[BaseModel]) -> Set[str]:
    """The keys in a file that a pydantic model reads."""
    return {field.alias or name for name, field in model.model_fields.items()}


def _report_unknown_type(survey: Survey, place: FilePosition, raw: Mapping[str, Any]) -> None:
    written, name = raw.get("type"), type_name(raw)
    if name in _LATER_TYPES:
        survey.report(place, f"Node type {written!r} is not offered by this version.", "Remove the node.")
        return
    near = nearest(name, [kind.kind for kind in survey.types.values()])
    fix = f"Did you mean {near!r}?" if near else "Give a type from the list of node types."
    if raw.get("endpointName"):
        cause = f"There is no node type {written!r}; the node runs as Standard."
        survey.report(place, cause, fix, "warning")
    else:
        survey.report(place, f"There is no node type {written!r}.", fix)


def _check_keys(survey: Survey, place: FilePosition, raw: Mapping[str, Any], kind: type[Node[Any]]) -> None:
    """Warn of properties that the type does not read, as often misspelled.

    Properties of model calls are allowed on every node, because existing files have them on many other types.
    """
    known = keys_of(kind.properties_type)
    passed_over = known | keys_of(ModelProperties) | _OF_EVERY_TYPE | LATER_DETAILS
    for key, value in raw.items():
        if key in LATER:
            _report_without_effect(survey, place / key, key, value)
            continue
        if key in passed_over or is_note(key):
            continue
        near = nearest(key, list(known))
        fix = f"Did you mean {near!r}?" if near else "Remove it, if it is not a note for yourself."
        survey.report(place / key, f"A node of type {kind.kind} has no property {key!r}.", fix, "warning")


def _report_without_effect(survey: Survey, place: FilePosition, key: str, value: object) -> None:
    if str(value).strip().lower() not in _OFF:
        fix = "The node works without it: remove it, or keep it for a later version."
        survey.report(place, f"{key!r} has no effect in this version yet.", fix, "warning")
