"""Checks of discussion memory: the file of discussion settings, and the workflows that memory nodes run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnemoir.workflows.checking.nodes import is_note, keys_of, type_name, type_of
from mnemoir.workflows.checking.references import Named, check_model
from mnemoir.workflows.checking.survey import FilePosition, Survey, nearest
from mnemoir.workflows.checking.workflows import Name, NodeAt, tool_key, tools_of
from mnemoir.workflows.config.memory import DiscussionSettings
from mnemoir.workflows.config.tree import DISCUSSION_SETTINGS, UserTree
from mnemoir.workflows.config.user import UserSettings

_CHUNK = "[TextChunk]"
_SUMMARY_INPUTS, _RECORD_INPUTS = 4, 1
_MAY_RUN_NOTHING = ("qualitymemory", "recentMemoryToolWorkflow")


def set_apart(survey: Survey, user: UserTree) -> None:
    """Exclude the file of discussion settings, which lies among the workflows, from the check of workflows."""
    if path := survey.find(DISCUSSION_SETTINGS, user.settings.discussion_settings, user.workflow_folders()):
        survey.no_workflows.add(path)


def keys_used_by(raw: Mapping[str, Any]) -> Iterator[str]:
    """The keys of the user's file that a memory node uses."""
    if key := tool_key(raw):
        yield key
        if key != "conversationMemoryToolWorkflow":
            yield DISCUSSION_SETTINGS


def check_discussion_settings(survey: Survey, user: UserTree, place: FilePosition) -> Sequence[Name]:
    """Check the file that a user's settings name, and the models in it; the workflows that it names."""
    name, key = user.settings.discussion_settings, DISCUSSION_SETTINGS
    path = survey.locate(place / key, key, name, user.workflow_folders()) if name else None
    if path is None:
        return ()
    said = survey.file_as_model(path, DiscussionSettings)
    if said is None:
        return ()
    inner = survey.place(path)
    _check_keys(survey, inner, said)
    return [*_summaries(survey, user, inner, said), *_records(survey, user, inner, said)]


def check_needs(survey: Survey, user: UserTree, node: NodeAt) -> None:
    """Report settings that a memory node requires and the user's file lacks."""
    if type_of(survey, node.raw) is None:
        return
    for key in _needs(node, user.settings):
        kind = node.raw.get("type")
        cause = f"A node of type {kind} needs {key}, and Users/{user.name.lower()}.json has none."
        survey.report(node.place / "type", cause, "Name a file of the user's workflows there.")


def _needs(node: NodeAt, settings: UserSettings) -> Iterator[str]:
    named = {**tools_of(settings), DISCUSSION_SETTINGS: settings.discussion_settings}
    for key in keys_used_by(node.raw):
        if not named[key] and (type_name(node.raw), key) != _MAY_RUN_NOTHING:
            yield key


def _summaries(survey: Survey, user: UserTree, place: FilePosition, said: DiscussionSettings) -> Iterator[Name]:
    """Check the model or give the workflow that makes chunk summaries.

    They are optional where records are made, although some nodes make summaries even then.
    """
    if said.summary_workflow:
        yield Name(place=place / "fileMemoryWorkflowName", name=said.summary_workflow, inputs=_SUMMARY_INPUTS)
        return
    endpoints = _endpoints(place, said)
    if not endpoints:
        if not said.uses_records:
            _report_no_model(survey, place / "endpointName", "fileMemoryWorkflowName")
        return
    for endpoint in endpoints:
        check_model(survey, user, endpoint, Named(place=place / "preset", name=said.preset))
    if _CHUNK not in said.system_prompt + said.prompt:
        cause = f"Neither systemPrompt nor prompt contains {_CHUNK}, so the model does not see what to summarise."
        survey.report(place / "prompt", cause, "Put it where the chunk belongs.", "warning")


def _records(survey: Survey, user: UserTree, place: FilePosition, said: DiscussionSettings) -> Iterator[Name]:
    if not said.uses_records:
        return
    if said.record_workflow:
        yield Name(place=place / "vectorMemoryWorkflowName", name=said.record_workflow, inputs=_RECORD_INPUTS)
        return
    own = place / "vectorMemoryEndpointName"
    endpoints = _endpoints(place, said)
    if said.record_endpoint and not said.endpoints:
        endpoints = [Named(place=own, name=said.record_endpoint)]
    key = "vectorMemoryPreset" if said.record_preset else "preset"
    for endpoint in endpoints:
        check_model(survey, user, endpoint, Named(place=place / key, name=said.record_preset or said.preset))
    if not endpoints:
        _report_no_model(survey, own, "vectorMemoryWorkflowName")


def _endpoints(place: FilePosition, said: DiscussionSettings) -> Sequence[Named]:
    listed = [
        Named(place=place / "multiModelList" / index / "endpointName", name=listed.endpoint)
        for index, listed in enumerate(said.endpoints)
    ]
    one = [Named(place=place / "endpointName", name=said.endpoint)] if said.endpoint else []
    return listed or one


def _report_no_model(survey: Survey, place: FilePosition, workflow_key: str) -> None:
    survey.report(place, "No model that makes memories is named.", f"Name an endpoint, or {workflow_key}.")


def _check_keys(survey: Survey, place: FilePosition, said: DiscussionSettings) -> None:
    """Warn of unknown keys that are similar to a known one, as most likely misspelled; others are allowed."""
    known = keys_of(DiscussionSettings)
    for key in said.model_extra or ():
        if not is_note(key) and (near := nearest(key, list(known))):
            survey.report(place / key, f"Discussion settings have no {key!r}.", f"Did you mean {near!r}?", "warning")
