"""Checks of samplers of endpoints: their names, the switch for thinking, and the preset laid over them."""

from collections.abc import Mapping

from mnemoir.workflows.checking.problem import FilePosition
from mnemoir.workflows.checking.survey import Survey, nearest
from mnemoir.workflows.config.api_type import ApiType
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.prompting.samplers import (
    CANONICAL,
    EFFORTS,
    MODES,
    OFF,
    SPECIAL,
    TEMPLATE_ARGUMENTS,
    THINKING,
)

_ON = ("on", "true", "yes", "1")
_PRESET_KEYS = ("presetSamplers", "appendPresetName")


def check_samplers(
    survey: Survey, user: UserTree, place: FilePosition, endpoint: EndpointDefinition, api_type: ApiType | None
) -> None:
    """Check the samplers of an endpoint, and the preset file that it lays over all others."""
    samplers, appended = endpoint.samplers or {}, endpoint.appended_preset
    own, on_top = (place / key for key in _PRESET_KEYS)
    known = CANONICAL | SPECIAL | (api_type.sampler_names.keys() if api_type else set())
    for name in samplers:
        if name not in known:
            near = nearest(name, sorted(known))
            fix = f"Did you mean {near!r}?" if near else "Put it into a preset file, and name that appendPresetName."
            survey.report(own / name, f"There is no sampler {name!r}; it is not sent.", fix, "warning")
    _check_thinking(survey, own / THINKING, samplers.get(THINKING))
    arguments = samplers.get(TEMPLATE_ARGUMENTS)
    if arguments is not None and not isinstance(arguments, Mapping):
        survey.report(own / TEMPLATE_ARGUMENTS, "It must be an object; it is not sent.", "Make it one.", "warning")
    if appended and api_type is not None and api_type.kind is not None:
        check_preset_file(survey, user, on_top, appended, api_type)


def check_preset_file(
    survey: Survey,
    user: UserTree,
    place: FilePosition,
    name: str,
    api_type: ApiType,
    absent: tuple[str, str] | None = None,
) -> None:
    """Check that the preset file exists and holds an object; `absent` is as in `Survey.locate`."""
    if api_type.preset_type and not survey.allows(place, api_type.preset_type):
        return
    found = survey.locate(place, "preset", name, user.preset_folders(api_type), absent)
    if found and survey.raw(found) is not None and not isinstance(survey.raw(found), dict):
        survey.report(survey.place(found), "A preset is an object.", "Put its settings between { and }.")


def check_translation(survey: Survey, place: FilePosition, api_type: ApiType) -> None:
    """Check the switch for thinking of an API type; its sampler names are not limited to the canonical ones."""
    switch, inner = api_type.thinking, place / "thinking"
    if switch is None or switch.mode == "unsupported":
        return
    if switch.mode not in MODES:
        fix = "Give bool, effort or unsupported."
        survey.report(inner / "mode", f"There is no mode {switch.mode!r}; thinkingMode is not sent.", fix, "warning")
    if not switch.field:
        survey.report(inner / "field", "It is empty, so thinkingMode is not sent.", "Name the member.", "warning")
    if switch.location == TEMPLATE_ARGUMENTS and not api_type.takes_template_arguments:
        cause = f"The server takes no {TEMPLATE_ARGUMENTS}, so thinkingMode is not sent."
        survey.report(inner / "location", cause, "Set supportsChatTemplateKwargs, or choose top.", "warning")


def _check_thinking(survey: Survey, place: FilePosition, mode: object) -> None:
    if mode is not None and str(mode).strip().lower() not in (*OFF, *_ON, *EFFORTS):
        cause = f"{mode!r} is no thinking mode; it counts as on."
        survey.report(place, cause, "Give off, on, low, medium or high.", "warning")
