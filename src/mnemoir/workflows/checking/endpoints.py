"""Checks of endpoints: URL, protocol, template, backup without circles, and samplers."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from mnemoir.workflows.checking.survey import FilePosition, Level, Survey, nearest
from mnemoir.workflows.config.endpoint import KINDS, NOT_OFFERED, ApiType, EndpointDefinition, PromptTemplate
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.prompting.options import CANONICAL, EFFORTS, MODES, OFF, SPECIAL, TEMPLATE_ARGUMENTS, THINKING

T = TypeVar("T", bound=Hashable)
_ON = ("on", "true", "yes", "1")
_PRESET_KEYS = ("presetSamplers", "appendPresetName")


def circles(edges: Mapping[T, Sequence[T]]) -> list[list[T]]:
    """One circle for every edge that closes one, beginning at the edge's target: [a, b] for a → b → a.

    Linear in the number of edges. Without recursion, because a chain may be longer than Python's stack.
    """
    found: list[list[T]] = []
    done: set[T] = set()
    for start in edges:
        if start not in done:
            found.extend(_circles_from(start, edges, done))
    return found


def _circles_from(start: T, edges: Mapping[T, Sequence[T]], done: set[T]) -> Iterator[list[T]]:
    """Depth-first search; `way` is the current path, `done` the nodes already searched."""
    way: list[T] = [start]
    places = {start: 0}
    ahead = [iter(edges.get(start, ()))]
    while ahead:
        following = next(ahead[-1], None)
        if following is None:
            ahead.pop()
            last = way.pop()
            del places[last]
            done.add(last)
        elif following in places:
            yield way[places[following] :]
        elif following not in done:
            places[following] = len(way)
            way.append(following)
            ahead.append(iter(edges.get(following, ())))


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


def check_endpoints(survey: Survey, user: UserTree) -> None:
    """Check all endpoints in the user's folder, also those that no workflow names."""
    folders = user.endpoint_folders()
    backups: dict[str, list[str]] = {}
    for name in survey.tree.lookup.names(*folders[0]):
        if found := survey.tree.find("endpoint", name, folders):
            backup = _check(survey, user, found.path)
            backups[found.path] = [backup] if backup else []
    for way in circles(backups):
        names = " → ".join(survey.place(path).file for path in (*way, way[0]))
        place = survey.place(way[-1]) / "backupEndpointName"
        survey.report(place, f"Backups lead back to themselves: {names}.", "Name no backup in one of them.")


def check_api_type(survey: Survey, path: str, *, is_named: bool = True) -> ApiType | None:
    """Check the file of an API type and return it; None if it cannot be read.

    An unknown protocol is an error if an endpoint names the API type. A protocol of the format that Mnemoir does not
    speak is a warning here, and an error where a node asks such an endpoint.
    """
    api_type = survey.file_as_model(path, ApiType)
    if api_type is None:
        return None
    place = survey.place(path)
    check_translation(survey, place, api_type)
    if cause := reason_for_refusal(api_type):
        survey.report(place / "type", cause, "Keep it if no node asks such an endpoint.", "warning")
    elif api_type.kind is None:
        near = nearest(api_type.type, list(KINDS))
        fix = f"Did you mean {near!r}?" if near else f"Give one of {', '.join(sorted(set(KINDS)))}."
        level: Level = "error" if is_named else "warning"
        survey.report(place / "type", f"There is no protocol {api_type.type!r}.", fix, level)
    return api_type


def reason_for_refusal(api_type: ApiType) -> str:
    """The reason why endpoints of that protocol are not offered; "" for an offered or an unknown protocol."""
    purpose = NOT_OFFERED.get(api_type.type.strip().lower())
    return f"Endpoints of type {api_type.type} ({purpose}) are not offered by this version." if purpose else ""


def api_type_of(survey: Survey, endpoint_path: str) -> ApiType | None:
    """The API type of an endpoint; None, with a reported problem, when it has none."""
    endpoint = survey.file_as_model(endpoint_path, EndpointDefinition)
    if endpoint is None:
        return None
    place = survey.place(endpoint_path) / "apiTypeConfigFileName"
    path = survey.locate(place, "API type", endpoint.api_type, [("ApiTypes",)])
    return check_api_type(survey, path) if path else None


def _check(survey: Survey, user: UserTree, path: str) -> str | None:
    """Check an endpoint; the path of its backup, if it has one."""
    endpoint = survey.file_as_model(path, EndpointDefinition)
    if endpoint is None:
        return None
    place = survey.place(path)
    api_type = api_type_of(survey, path)
    check_samplers(survey, user, place, endpoint, api_type)
    _check_url(survey, place / "endpoint", endpoint.url)
    if api_type and api_type.kind and (repeated := endpoint.repeated_path(api_type.kind)):
        found = f"It ends with {repeated}, which is a part of the protocol's own path, so it is left out."
        survey.report(place / "endpoint", found, "Write the address without it.", "warning")
    if endpoint.template and (
        template := survey.locate(
            place / "promptTemplate", "prompt template", endpoint.template, [("PromptTemplates",)]
        )
    ):
        survey.file_as_model(template, PromptTemplate)
    if endpoint.removes_thinking and endpoint.think_tags is None:
        fix = "Set startThinkTag and endThinkTag."
        survey.report(place / "removeThinking", "Without the tags nothing is removed.", fix, "warning")
    if not endpoint.backup:
        return None
    return survey.locate(place / "backupEndpointName", "endpoint", endpoint.backup, user.endpoint_folders())


def _check_url(survey: Survey, place: FilePosition, url: str) -> None:
    """Check the URL. Messages do not quote it, because it may contain a password."""
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        is_sound = False
    if not is_sound:
        survey.report(place, "It is not the address of a server.", "Write it like http://127.0.0.1:8080.")
