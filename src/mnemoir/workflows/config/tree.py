"""The config tree: lookup of its files by name, for each of its users.

Files are read through a cache that notices edits, so that a change of a file takes effect at the next node of a
workflow.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.endpoint import OPENAI_PRESETS, ApiType, EndpointDefinition, PromptTemplate
from mnemoir.workflows.config.files import FileCache, Reader
from mnemoir.workflows.config.lookup import FileMatch, Lookup, file_names, file_parts, folder_parts
from mnemoir.workflows.config.memory import DiscussionSettings
from mnemoir.workflows.config.model import ConfigModel, Line, as_model
from mnemoir.workflows.config.routing import RoutingTable
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.config.workflow import WorkflowDefinition, read_workflow

DISCUSSION_SETTINGS = "discussionIdMemoryFileWorkflowSettings"  # key in the user's file with the name of that file
_CURRENT_USER = "_current-user"
_NO_TEMPLATE = PromptTemplate.model_validate({})

T = TypeVar("T")
U = TypeVar("U", bound="UserTree")
Folder = Sequence[str]


class _CurrentUser(ConfigModel):
    name: Line = Field("", alias="currentUser")


class ConfigTree:
    """The config tree below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.public = root.parent
        self.lookup = Lookup(str(root))
        self._files = FileCache(str(root))

    @classmethod
    def open(cls, path: Path) -> "ConfigTree":
        """The tree at `path`, which is the Configs folder or the Public folder around it. Raises SettingsError."""
        place = Path(os.path.abspath(path.expanduser()))
        for root in (place, *(place / name for name in Lookup(str(place)).folders() if name.lower() == "configs")):
            if any(name.lower() == "users" for name in Lookup(str(root)).folders()):
                return cls(root)
        raise SettingsError(
            f"{place} is no config tree: it has no Users folder, nor has a Configs folder in it. "
            "Name the Configs folder, or the Public folder around it."
        )

    def user_names(self) -> list[str]:
        """The names of users with a file, in order."""
        return [name for name in self.lookup.names("Users") if name.lower() != _CURRENT_USER]

    def current_user(self) -> str | None:
        """The user named by `Users/_current-user.json`; None without one. Raises SettingsError for a broken file."""
        found = self.lookup.find("Users", f"{_CURRENT_USER}.json")
        return self._files.read(found, _current_user) or None if found else None

    def user(self, name: str) -> "UserTree":
        """The tree as that user sees it. Raises SettingsError when the user's file is missing or broken."""
        return _checked_user(UserTree(name, self))

    def glance(self, name: str) -> "Glance":
        """The tree as that user sees it, for one request. Raises SettingsError as `user` does."""
        return _checked_user(Glance(name, self))

    def problems(self) -> Mapping[str, str]:
        """The faults of broken files with an older version in use, by path."""
        return self._files.problems()

    def find(self, field: str, name: str, folders: Iterable[Folder]) -> FileMatch | None:
        """The file of that name in the first folder that has it. Raises SettingsError for a forbidden name."""
        for place in _places(field, name, tuple(folders)):
            if found := self.lookup.find(*place):
                return found
        return None

    def read(self, field: str, name: str, folders: Sequence[Folder], reader: Reader[T]) -> T | None:
        """The value read from the file of that name; None when these folders do not have it."""
        found = self.find(field, name, folders)
        return None if found is None else self._files.read(found, reader)

    def missing(self, field: str, name: str, folders: Sequence[Folder]) -> str:
        """The message for a missing file: the name, the folders searched, and the remedy."""
        return f"{self.absent(field, name, folders)} {self.advice(name, folders)}"

    def absent(self, field: str, name: str, folders: Sequence[Folder]) -> str:
        """The first sentence of `missing`: the name and the folders searched."""
        looked = " nor ".join("/".join((*folder, file_names(name)[-1])) for folder in folders)
        return f"{field} {name!r} was not found: there is no {looked} in {self.root}."

    def advice(self, name: str, folders: Sequence[Folder]) -> str:
        """The second sentence of `missing`: a similar name, or the advice to create the file."""
        known = {other.lower(): other for folder in folders for other in self.lookup.names(*folder)}
        near = get_close_matches(name.lower().removesuffix(".json"), known, n=1)
        return f"Did you mean {known[near[0]]!r}?" if near else "Create the file, or correct the name."


class UserTree:
    """The tree as one user sees it, with edits visible at each call.

    `name` is spelled as configured; the name of the user's file is in lower case. All methods raise SettingsError for
    missing and broken files.
    """

    def __init__(self, name: str, tree: ConfigTree) -> None:
        self.name = name
        self.tree = tree

    @property
    def settings(self) -> UserSettings:
        """The user's file, as it is now."""
        return self._read("user", self.name.lower(), [("Users",)], _settings)

    def endpoint(self, name: str) -> EndpointDefinition:
        """An endpoint, from the user's own folder of endpoints."""
        return self._read("endpoint", name, self.endpoint_folders(), _endpoint)

    def api_type(self, name: str) -> ApiType:
        """An API type."""
        return self._read("API type", name, [("ApiTypes",)], _api_type)

    def preset(self, name: str, api_type: ApiType) -> Mapping[str, Any]:  # JSON, sent as it is
        """The settings of a preset file, by the protocol's own names; {} for an empty name."""
        if not name:
            return {}
        folders = self.preset_folders(api_type)
        found = self._read_if_there("preset", name, folders, _preset)
        if found is None:
            raise SettingsError(" ".join(self.absent_preset(name, folders)))
        return found

    def samplers(self, name: str) -> Mapping[str, Any] | None:
        """The canonical samplers of the endpoint of that name; None without such an endpoint or samplers.

        They take precedence over a preset file of that name.
        """
        if not name:
            return None
        file_parts("preset", name)  # so that the error names the preset
        endpoint = self._read_if_there("endpoint", name, self.endpoint_folders(), _endpoint)
        return None if endpoint is None else endpoint.samplers

    def absent_preset(self, name: str, folders: Sequence[Folder]) -> tuple[str, str]:
        """Cause and fix of a preset that neither a file nor an endpoint gives."""
        absent, endpoints = self.tree.absent("preset", name, folders), self.endpoint_folders()
        if self.tree.find("endpoint", name, endpoints):
            return f"{absent} Endpoint {name!r} has no presetSamplers.", "Add them, or create the file."
        advice = self.tree.advice(name, [*folders, *endpoints])
        return f"{absent} Nor is there an endpoint {name!r} with presetSamplers.", advice

    def template(self, name: str) -> PromptTemplate:
        """A prompt template."""
        return self._read("prompt template", name, [("PromptTemplates",)], _template)

    def chat_template(self) -> PromptTemplate:
        """The user's own template; an empty template if none is set."""
        name = self.settings.chat_template
        return self.template(name) if name else _NO_TEMPLATE

    def template_of(self, endpoint: EndpointDefinition) -> PromptTemplate:
        """The endpoint's template, else the user's."""
        return self.template(endpoint.template) if endpoint.template else self.chat_template()

    def routing(self, name: str) -> RoutingTable:
        """A routing table."""
        return self._read("routing", name, [("Routing",)], _routing)

    def workflow(self, name: str, folder: str = "") -> WorkflowDefinition:
        """A workflow of that folder below `Workflows/`, for "" the user's own; the same object until it changes."""
        return self._read("workflow", name, self.workflow_folders(folder), _workflow)

    def has_workflow(self, name: str, folder: str = "") -> bool:
        """True when there is such a file, valid or broken."""
        return self.tree.find("workflow", name, self.workflow_folders(folder)) is not None

    def discussion_settings(self) -> DiscussionSettings:
        """The discussion settings, from a file among the user's own workflows."""
        name = self.settings.discussion_settings
        if not name:
            raise SettingsError(
                f"Users/{self.name.lower()}.json names no discussion settings. Write a file of discussion "
                f"settings into {'/'.join(self.workflow_folders()[0])}, and name it as {DISCUSSION_SETTINGS}."
            )
        return self._read(DISCUSSION_SETTINGS, name, self.workflow_folders(), _discussion_settings)

    def shared_folders(self) -> list[str]:
        """The folders of shared workflows, also if this user does not offer them."""
        shared = folder_parts("sharedWorkflowsSubDirectoryOverride", self.settings.shared_folder)
        return self.tree.lookup.folders("Workflows", *shared)

    def has_shared_folder(self, name: str) -> bool:
        """True for one of `shared_folders`; cheaper than listing them."""
        shared = folder_parts("sharedWorkflowsSubDirectoryOverride", self.settings.shared_folder)
        return self.tree.lookup.has_folder(name, "Workflows", *shared)

    def look_again(self) -> None:
        """Nothing to do here: every call sees edits."""

    def endpoint_folders(self) -> Sequence[Folder]:
        """The folders searched for endpoints."""
        return [("Endpoints", *folder_parts("endpointConfigsSubDirectory", self.settings.endpoint_folder))]

    def preset_folders(self, api_type: ApiType) -> Sequence[Folder]:
        """The folders searched for presets of that protocol: the user's folder, then its parent.

        An API type without a folder has its presets where those of OpenAI's protocol are, or in no folder of a kind.
        """
        own = folder_parts("presetConfigsSubDirectoryOverride", self.settings.preset_folder) or (self.name,)
        named = folder_parts("presetType", api_type.preset_type)
        kinds: Sequence[Folder] = [named] if named else [(OPENAI_PRESETS,), ()]
        return [folder for kind in kinds for folder in (("Presets", *kind, *own), ("Presets", *kind))]

    def workflow_folders(self, folder: str = "") -> Sequence[Folder]:
        """The folders searched for workflows. One release of the format read overrides below `_overrides`."""
        if folder:
            return [("Workflows", *folder_parts("workflowUserFolderOverride", folder))]
        own = folder_parts("workflowConfigsSubDirectoryOverride", self.settings.workflow_folder)
        return [("Workflows", *own), ("Workflows", "_overrides", *own)] if own else [("Workflows", self.name)]

    def _read(self, field: str, name: str, folders: Sequence[Folder], reader: Reader[T]) -> T:
        found = self._read_if_there(field, name, folders, reader)
        if found is None:
            raise SettingsError(self.tree.missing(field, name, folders))
        return found

    def _read_if_there(self, field: str, name: str, folders: Sequence[Folder], reader: Reader[T]) -> T | None:
        return self.tree.read(field, name, folders, reader)


class Glance(UserTree):
    """The tree for one request: a file that was read stays the same until `look_again`, called between nodes.

    A node reads some files several times, and checking each time that a file is unchanged is the expensive part.
    """

    def __init__(self, name: str, tree: ConfigTree) -> None:
        super().__init__(name, tree)
        self._seen: dict[tuple[object, ...], Any] = {}  # values that the readers made of files
        self._settings: UserSettings | None = None

    @property
    def settings(self) -> UserSettings:
        """The user's file, as it was at the first call. Kept apart, because most other calls need it too."""
        if self._settings is None:
            self._settings = super().settings
        return self._settings

    def look_again(self) -> None:
        """Make edits visible: following calls read the files again."""
        self._seen.clear()
        self._settings = None

    def _read_if_there(self, field: str, name: str, folders: Sequence[Folder], reader: Reader[T]) -> T | None:
        key = (field, name, *folders)
        if key not in self._seen:
            self._seen[key] = super()._read_if_there(field, name, folders, reader)
        return self._seen[key]  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def _places(field: str, name: str, folders: tuple[Folder, ...]) -> Sequence[Sequence[str]]:
    """The paths to search for a file of that name, in order. Raises SettingsError for a forbidden name."""
    *inner, last = file_parts(field, name)
    return [(*folder, *inner, file) for folder in folders for file in file_names(last)]


def _checked_user(user: U) -> U:
    if len(file_parts("user", user.name)) > 1:
        raise SettingsError(f"user {user.name!r} is not allowed: it has a slash. Give the name of a file in Users.")
    _ = user.settings
    return user


def _current_user(relative: str, raw: Any) -> str:
    return as_model(_CurrentUser, relative, raw).name


def _workflow(relative: str, raw: Any) -> WorkflowDefinition:
    folder, _, file = relative.partition("/")[2].rpartition("/")
    return read_workflow(os.path.splitext(file)[0], raw, folder)


def _preset(relative: str, raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise SettingsError(f"{relative} must be a JSON object.")
    return raw


# created once, because the reader is part of the cache's key
_settings: Reader[UserSettings] = partial(as_model, UserSettings)
_endpoint: Reader[EndpointDefinition] = partial(as_model, EndpointDefinition)
_api_type: Reader[ApiType] = partial(as_model, ApiType)
_template: Reader[PromptTemplate] = partial(as_model, PromptTemplate)
_routing: Reader[RoutingTable] = partial(as_model, RoutingTable)
_discussion_settings: Reader[DiscussionSettings] = partial(as_model, DiscussionSettings)
