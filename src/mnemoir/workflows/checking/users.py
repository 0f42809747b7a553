"""Checks of users: the settings, the files they name, and every workflow that is reached from there."""

import os
from collections.abc import Iterator

from mnemoir.workflows.checking.answering import hint_at_dropped_tools
from mnemoir.workflows.checking.discussions import check_discussion_settings, keys_used_by, set_apart
from mnemoir.workflows.checking.endpoints import check_endpoints
from mnemoir.workflows.checking.paths import check_discussion_directory
from mnemoir.workflows.checking.problem import FilePosition
from mnemoir.workflows.checking.reach import Reach
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import Name, tools_of
from mnemoir.workflows.config.routing import RoutingTable
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.config.tree import DISCUSSION_SETTINGS, UserTree
from mnemoir.workflows.config.user import UserSettings

_DEFAULT = "_DefaultWorkflow"  # runs when no category is found, and when a shared folder is asked for


def check_user(survey: Survey, name: str, named_at: FilePosition) -> None:
    """Check one user. `named_at` is the position that names the user, where a missing user is reported."""
    path = survey.locate(named_at, "user", name.lower(), [("Users",)])
    settings = survey.shaped(path, UserSettings) if path else None
    if path is None or settings is None:
        return
    place = survey.place(path)
    if not _has_sound_folders(survey, place, settings):
        return
    _check_places(survey, place, settings)
    user = UserTree(name, survey.tree)
    if settings.chat_template:
        _check_template(survey, place / "chatPromptTemplateName", settings.chat_template)
    check_endpoints(survey, user)
    reach = Reach(survey, user)
    tops = list(_tops(survey, place, settings, user))
    for top, categorizes in tops:
        reach.start_at(top, categorizes=categorizes)
    if settings.always_custom_workflow:
        reach.stand_by(settings.categorization_workflow)
    set_apart(survey, user)
    reach.gather_own()
    _check_memory(survey, place, user, reach)
    reach.check()
    hint_at_dropped_tools(survey, user, (top for top, categorizes in tops if not categorizes))


def _check_memory(survey: Survey, place: FilePosition, user: UserTree, reach: Reach) -> None:
    """Check the workflows and settings of discussion memory; only warnings when no node uses them."""
    used = {key for node in reach.nodes() for key in keys_used_by(node.raw)}
    for key, tool in tools_of(user.settings).items():
        if tool:
            with survey.only_warning(key not in used):
                reach.start_at(Name(place=place / key, name=tool, inputs=None))
    with survey.only_warning(DISCUSSION_SETTINGS not in used):
        for maker in check_discussion_settings(survey, user, place):
            reach.start_at(maker)


def _has_sound_folders(survey: Survey, place: FilePosition, settings: UserSettings) -> bool:
    """True when the names of all folders are allowed; else each wrong one is reported."""
    folders = {
        "endpointConfigsSubDirectory": settings.endpoint_folder,
        "presetConfigsSubDirectoryOverride": settings.preset_folder,
        "workflowConfigsSubDirectoryOverride": settings.workflow_folder,
        "sharedWorkflowsSubDirectoryOverride": settings.shared_folder,
    }
    named = {key: folder.removesuffix("/") for key, folder in folders.items()}
    sound = [survey.allows(place / key, folder) for key, folder in named.items() if folder]
    return all(sound)


def _check_places(survey: Survey, place: FilePosition, settings: UserSettings) -> None:
    """Check directories: writable, and not Windows paths, which would become oddly named folders here."""
    places = {"discussionDirectory": settings.discussion_directory, "sqlLiteDirectory": settings.lock_directory}
    for key, written in places.items():
        if os.name != "nt" and "\\" in written:
            cause = "This is a Windows path; the default folder is used instead."
            survey.report(place / key, cause, "Give a path of this system, or none.", "warning")
    check_discussion_directory(survey, place / "discussionDirectory", settings)


def _check_template(survey: Survey, place: FilePosition, name: str) -> None:
    if path := survey.locate(place, "prompt template", name, [("PromptTemplates",)]):
        survey.shaped(path, PromptTemplate)


def _tops(survey: Survey, place: FilePosition, settings: UserSettings, user: UserTree) -> Iterator[tuple[Name, bool]]:
    """The top-level workflows of a message, and for each whether it is the categoriser."""
    if settings.only_shares:
        if not user.shared_folders():
            inner = place / "sharedWorkflowsSubDirectoryOverride"
            cause = "The user has no workflow: routingConfig is empty, and there are no folders of shared workflows."
            survey.report(inner, cause, "Name the folder that holds them, or a workflow of the user's own.")
    elif settings.always_custom_workflow:
        yield Name(place=place / "customWorkflow", name=settings.custom_workflow), False
    else:
        yield Name(place=place / "categorizationWorkflow", name=settings.categorization_workflow), True
        yield from ((name, False) for name in _routes(survey, place / "routingConfig", settings.routing))
        if not user.has_workflow(_DEFAULT):
            cause = f"There is no workflow {_DEFAULT}, which runs when no category is found."
            survey.report(place / "routingConfig", cause, "Add one to the user's workflows.", "warning")
    if settings.shares_workflows:
        shared = settings.shared_folder.removesuffix("/")
        for folder in user.shared_folders():
            inner = place / "sharedWorkflowsSubDirectoryOverride"
            yield Name(place=inner, name=_DEFAULT, folder=f"{shared}/{folder}"), False


def _routes(survey: Survey, place: FilePosition, name: str) -> Iterator[Name]:
    path = survey.locate(place, "routing", name, [("Routing",)])
    table = survey.shaped(path, RoutingTable) if path else None
    if path is None or table is None:
        return
    inner = survey.place(path)
    if not table.root:
        survey.report(inner, "There are no categories.", "Add some, or set customWorkflowOverride.", "warning")
    for category, route in table.root.items():
        yield Name(place=inner / category / "workflow", name=route.workflow)
