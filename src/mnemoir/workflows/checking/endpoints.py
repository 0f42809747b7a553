"""Checks of endpoints: URL, protocol, template and backup."""

from urllib.parse import urlsplit

from mnemoir.workflows.checking.circles import circles
from mnemoir.workflows.checking.problem import FilePosition, Level
from mnemoir.workflows.checking.samplers import check_samplers, check_translation
from mnemoir.workflows.checking.survey import Survey, nearest
from mnemoir.workflows.config.api_type import KINDS, NOT_OFFERED, ApiType
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.config.tree import UserTree


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
    api_type = survey.shaped(path, ApiType)
    if api_type is None:
        return None
    place = survey.place(path)
    check_translation(survey, place, api_type)
    if cause := not_offered(api_type):
        survey.report(place / "type", cause, "Keep it if no node asks such an endpoint.", "warning")
    elif api_type.kind is None:
        near = nearest(api_type.type, list(KINDS))
        fix = f"Did you mean {near!r}?" if near else f"Give one of {', '.join(sorted(set(KINDS)))}."
        level: Level = "error" if is_named else "warning"
        survey.report(place / "type", f"There is no protocol {api_type.type!r}.", fix, level)
    return api_type


def not_offered(api_type: ApiType) -> str:
    """The reason why endpoints of that protocol are not offered; "" for an offered or an unknown protocol."""
    purpose = NOT_OFFERED.get(api_type.type.strip().lower())
    return f"Endpoints of type {api_type.type} ({purpose}) are not offered by this version." if purpose else ""


def api_type_of(survey: Survey, endpoint_path: str) -> ApiType | None:
    """The API type of an endpoint; None, with a reported problem, when it has none."""
    endpoint = survey.shaped(endpoint_path, EndpointDefinition)
    if endpoint is None:
        return None
    place = survey.place(endpoint_path) / "apiTypeConfigFileName"
    path = survey.locate(place, "API type", endpoint.api_type, [("ApiTypes",)])
    return check_api_type(survey, path) if path else None


def _check(survey: Survey, user: UserTree, path: str) -> str | None:
    """Check an endpoint; the path of its backup, if it has one."""
    endpoint = survey.shaped(path, EndpointDefinition)
    if endpoint is None:
        return None
    place = survey.place(path)
    check_samplers(survey, user, place, endpoint, api_type_of(survey, path))
    _check_url(survey, place / "endpoint", endpoint.url)
    if endpoint.template and (
        template := survey.locate(
            place / "promptTemplate", "prompt template", endpoint.template, [("PromptTemplates",)]
        )
    ):
        survey.shaped(template, PromptTemplate)
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
