"""Resolution of a node's `preset`: the samplers of an endpoint, or a preset file.

Samplers of any endpoint are translated for the endpoint that is asked. So a backup with another protocol gets the
same samplers by its own names.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from mnemoir.workflows.prompting.samplers import left_out, translated
from mnemoir.workflows.question import Target
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)


def preset_of(step: Step, name: str, target: Target) -> Sequence[Mapping[str, Any]]:
    """The layers of settings for one call, the lowest first; samplers that cannot be sent are noted in the trace.

    Raises SettingsError when neither an endpoint with samplers nor a preset file has that name, or when the preset
    file that the endpoint lays over all others is missing.
    """
    user, api_type = step.user, target.api_type
    samplers = user.samplers(name)
    if samplers is None:
        lowest = user.preset(name, api_type)
    else:
        lowest = translated(samplers, api_type)
        _note(step, name, target, left_out(samplers, api_type, target.endpoint.api_type))
    return lowest, user.preset(target.endpoint.appended_preset, api_type)


def _note(step: Step, name: str, target: Target, notes: Sequence[str]) -> None:
    """Note them in the trace, and in one line of the log per call."""
    for note in notes:
        step.note(note)
    if notes:
        _log.warning("samplers left out", endpoint=target.name, preset=name, reasons=notes)
