"""The config tree: what names in it mean to one of its users.

Files are looked at through a cache that notices edits, so that a change of any file counts from the next step of a
workflow on.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.api_type import ApiType
from mnemoir.workflows.config.discussion import DiscussionSettings
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.files import FileCache, Reader
from mnemoir.workflows.config.lookup import FileMatch, Lookup, file_names, file_parts, folder_parts
from mnemoir.workflows.config.model import ConfigModel, Line
from mnemoir.workflows.config.routing import RoutingTable
from mnemoir.workflows.config.shape import shaped
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.config.workflow import WorkflowDefinition, read_workflow

DISCUSSION_SETTINGS = "discussionIdMemoryFileWorkflowSettings"  # the user's key that names their file
_CURRENT_USER = "_current-user"
_NO_TEMPLATE = PromptTemplate.model_validate({})

T = TypeVar("T")
U = TypeVar("U", bound="UserTree")
Folder = Sequence[str]


class _CurrentUser(ConfigModel):
    name: Line = Field("", alias="currentUser")


class ConfigTree:
    """All files below one folder."""

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
        """The users there are files of, in order."""
        return [name for name in self.lookup.names("Users") if name.lower() != _CURRENT_USER]

    def current_user(self) -> str | None:
        """Whom `Users/_current-user.json` names; None when it names nobody. Raises SettingsError if broken."""
        found = self.lookup.find("Users", f"{_CURRENT_USER}.json")
        return self._files.read(found, _current_user) or None if found else None

    def user(self, name: str) -> "UserTree":
        """The tree as that user sees it. Raises SettingsError when the user's file is missing or broken."""
        return _checked(UserTree(name, self))

    def glance(self, name: str) -> "Glance":
        """The same for one request. Raises SettingsError too."""
        return _checked(Glance(name, self))

    def problems(self) -> Mapping[str, str]:
        """What is wrong with files of which an older version is in use, by their paths."""
        return self._files.problems()

    def find(self, field: str, name: str, folders: Iterable[Folder]) -> FileMatch | None:
        """The file of that name in the first folder that has one. Raises SettingsError for a name that is none."""
        for place in _places(field, name, tuple(folders)):
            if found := self.lookup.find(*place):
                return found
        return None

    def read(self, field: str, name: str, folders: Sequence[Folder], reader: Reader[T]) -> T | None:
        """What the file of that name says; None where there is none in these folders."""
        found = self.find(field, name, folders)
        return None if found is None else self._files.read(found, reader)

    def missing(self, field: str, name: str, folders: Sequence[Folder]) -> str:
        """That there is no such file, where it was looked for, and what to do."""
        return f"{self.absent(field, name, folders)} {self.advice(name, folders)}"

    def absent(self, field: str, name: str, folders: Sequence[Folder]) -> str:
        """That there is no such file, and where it was looked for."""
        looked = " nor ".join("/".join((*folder, file_names(name)[-1])) for folder in folders)
        return f"{field} {name!r} was not found: there is no {looked} in {self.root}."

    def advice(self, name: str, folders: Sequence[Folder]) -> str:
        """What to do about a name there is no file of."""
        known = {other.lower(): other for folder in folders for other in self.lookup.names(*folder)}
        near = get_close_matches(name.lower().removesuffix(".json"), known, n=1)
        return f"Did you mean {known[near[0]]!r}?" if near else "Create the file, or correct the name."


class UserTree:
    """The tree as one user sees it, each call anew. `name` is as configured, while the user's file is in lower case.

    All methods raise SettingsError for what is missing or broken.
    """

    def __init__(self, name: str, tree: ConfigTree) -> None:
        self.name = name
        self.tree = tree

    @property
    def settings(self) -> UserSettings:
        """The user's file as it is now."""
        return self._read("user", self.name.lower(), [("Users",)], _settings)

    def endpoint(self, name: str) -> EndpointDefinition:
        """A model's server; the user's own folder of endpoints is the only place."""
        return self._read("endpoint", name, self.endpoint_folders(), _endpoint)

    def api_type(self, name: str) -> ApiType:
        """A protocol."""
        return self._read("API type", name, [("ApiTypes",)], _api_type)

    def preset(self, name: str, api_type: ApiType) -> Mapping[str, Any]:  # JSON, sent as it is
        """Settings by the protocol's own names, from a file; {} for an empty name."""
        if not name:
            return {}
        folders = self.preset_folders(api_type)
        found = self._found("preset", name, folders, _preset)
        if found is None:
            raise SettingsError(" ".join(self.absent_preset(name, folders)))
        return found

    def samplers(self, name: str) -> Mapping[str, Any] | None:
        """The canonical samplers of the endpoint of that name; None where there is no such endpoint or it has none.

        A preset of that name means them before any file.
        """
        if not name:
            return None
        file_parts("preset", name)  # for an error that speaks of the preset
        endpoint = self._found("endpoint", name, self.endpoint_folders(), _endpoint)
        return None if endpoint is None else endpoint.samplers

    def absent_preset(self, name: str, folders: Sequence[Folder]) -> tuple[str, str]:
        """That neither a file nor an endpoint gives that preset, and what to do."""
        absent, endpoints = self.tree.absent("preset", name, folders), self.endpoint_folders()
        if self.tree.find("endpoint", name, endpoints):
            return f"{absent} Endpoint {name!r} has no presetSamplers.", "Add them, or create the file."
        advice = self.tree.advice(name, [*folders, *endpoints])
        return f"{absent} Nor is there an endpoint {name!r} with presetSamplers.", advice

    def template(self, name: str) -> PromptTemplate:
        """How turns are written for a model that takes flat text."""
        return self._read("prompt template", name, [("PromptTemplates",)], _template)

    def chat_template(self) -> PromptTemplate:
        """The user's own template; an empty one where none is set."""
        name = self.settings.chat_template
        return self.template(name) if name else _NO_TEMPLATE

    def template_of(self, endpoint: EndpointDefinition) -> PromptTemplate:
        """The endpoint's template, else the user's."""
        return self.template(endpoint.template) if endpoint.template else self.chat_template()

    def routing(self, name: str) -> RoutingTable:
        """Categories and their workflows."""
        return self._read("routing", name, [("Routing",)], _routing)

    def workflow(self, name: str, folder: str = "") -> WorkflowDefinition:
        """A workflow of that folder below `Workflows/`, else the user's own; the same object until it changes."""
        return self._read("workflow", name, self.workflow_folders(folder), _workflow)

    def has_workflow(self, name: str, folder: str = "") -> bool:
        """Whether there is such a file, sound or not."""
        return self.tree.find("workflow", name, self.workflow_folders(folder)) is not None

    def discussion_settings(self) -> DiscussionSettings:
        """How memories of discussions are made: a file among the user's own workflows."""
        name = self.settings.discussion_settings
        if not name:
            raise SettingsError(
                f"Users/{self.name.lower()}.json does not tell how memories are made. Write a file of discussion "
                f"settings into {'/'.join(self.workflow_folders()[0])}, and name it as {DISCUSSION_SETTINGS}."
            )
        return self._read(DISCUSSION_SETTINGS, name, self.workflow_folders(), _discussion_settings)

    def shared_folders(self) -> list[str]:
        """The folders of shared workflows, whether or not this user offers them."""
        shared = folder_parts("sharedWorkflowsSubDirectoryOverride", self.settings.shared_folder)
        return self.tree.lookup.folders("Workflows", *shared)

    def has_shared_folder(self, name: str) -> bool:
        """Whether it is one of `shared_folders`; for less than it takes to list them."""
        shared = folder_parts("sharedWorkflowsSubDirectoryOverride", self.settings.shared_folder)
        return self.tree.lookup.has_folder(name, "Workflows", *shared)

    def look_again(self) -> None:
        """Nothing: every call does."""

    def endpoint_folders(self) -> Sequence[Folder]:
        """Where endpoints are looked for."""
        return [("Endpoints", *folder_parts("endpointConfigsSubDirectory", self.settings.endpoint_folder))]

    def preset_folders(self, api_type: ApiType) -> Sequence[Folder]:
        """Where presets for that protocol are looked for: the user's folder, then the one around it."""
        kind = ("Presets", *folder_parts("presetType", api_type.preset_type))
        own = folder_parts("presetConfigsSubDirectoryOverride", self.settings.preset_folder) or (self.name,)
        return [(*kind, *own), kind]

    def workflow_folders(self, folder: str = "") -> Sequence[Folder]:
        """Where workflows are looked for. One release read the user's override below `_overrides`."""
        if folder:
            return [("Workflows", *folder_parts("workflowUserFolderOverride", folder))]
        own = folder_parts("workflowConfigsSubDirectoryOverride", self.settings.workflow_folder)
        return [("Workflows", *own), ("Workflows", "_overrides", *own)] if own else [("Workflows", self.name)]

    def _read(self, field: str, name: str, folders: Sequence[Folder], reader: Reader[T]) -> T:
        found = self._found(field, name, folders, reader)
        if found is None:
            raise SettingsError(self.tree.missing(field, name, folders))
        return found

    def _found(self, field: str, name: str, folders: Sequence[Folder], reader: Reader[T]) -> T | None:
        return self.tree.read(field, name, folders, reader)


class Glance(UserTree):
    """The tree for one request: a file that was read stays as it was until `look_again`, which comes between nodes.

    A node needs some files several times, and the file system's word that nothing has changed is the dear part.
    """

    def __init__(self, name: str, tree: ConfigTree) -> None:
        super().__init__(name, tree)
        self._seen: dict[tuple[object, ...], Any] = {}  # what the readers made of the files
        self._settings: UserSettings | None = None

    @property
    def settings(self) -> UserSettings:
        """The user's file as it was when it was first asked for; most other calls ask for it too."""
        if self._settings is None:
            self._settings = super().settings
        return self._settings

    def look_again(self) -> None:
        """From here on edits count."""
        self._seen.clear()
        self._settings = None

    def _found(self, field: str, name: str, folders: Sequence[Folder], reader: Reader[T]) -> T | None:
        key = (field, name, *folders)
        if key not in self._seen:
            self._seen[key] = super()._found(field, name, folders, reader)
        return self._seen[key]  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def _places(field: str, name: str, folders: tuple[Folder, ...]) -> Sequence[Sequence[str]]:
    """The paths to look at for a file of that name, in order. Raises SettingsError for a name that is none."""
    *inner, last = file_parts(field, name)
    return [(*folder, *inner, file) for folder in folders for file in file_names(last)]


def _checked(user: U) -> U:
    if len(file_parts("user", user.name)) > 1:
        raise SettingsError(f"user {user.name!r} is not allowed: it has a slash. Give the name of a file in Users.")
    _ = user.settings
    return user


def _current_user(relative: str, raw: Any) -> str:
    return shaped(_CurrentUser, relative, raw).name


def _workflow(relative: str, raw: Any) -> WorkflowDefinition:
    folder, _, file = relative.partition("/")[2].rpartition("/")
    return read_workflow(os.path.splitext(file)[0], raw, folder)


def _preset(relative: str, raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise SettingsError(f"{relative} must be a JSON object.")
    return raw


# made once: the cache knows a reading by its reader
_settings: Reader[UserSettings] = partial(shaped, UserSettings)
_endpoint: Reader[EndpointDefinition] = partial(shaped, EndpointDefinition)
_api_type: Reader[ApiType] = partial(shaped, ApiType)
_template: Reader[PromptTemplate] = partial(shaped, PromptTemplate)
_routing: Reader[RoutingTable] = partial(shaped, RoutingTable)
_discussion_settings: Reader[DiscussionSettings] = partial(shaped, DiscussionSettings)
