"""The declared half of each holding: its tables, its files, and its place among the others. It needs no open store.

`mnemoir backup` and `mnemoir encryption` read it beside a running server. A holding registers itself and edits no
list. `ports/holdings.py` has the other half, which is there where its store is open.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mnemoir.core.data_directory import (
    ACCESS_FILE,
    CACHE,
    CONVERSATIONS,
    DATABASE_FILE,
    LOCK_FILES,
    OWN_DISCUSSIONS,
    RUNS_FILE,
    SAVED_MODELS,
)
from mnemoir.core.errors import SettingsError
from mnemoir.storage.backups.copying import Copying, copy_discussions, copy_user_folders
from mnemoir.storage.sql.tables import (
    CONVERSATION_TABLES,
    FACT_TABLES,
    IMPORT_TABLES,
    JOB_TABLES,
    PERSONAL_TABLES,
    PROPOSAL_TABLES,
    TABLES,
    USAGE_TABLES,
    Table,
)

When = Literal["always", "keys", "all", "never"]  # "keys" and "all": where a backup is to hold these, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """A file or a folder in the data directory, or several by wildcards in the steps of its path.

    What refers to others is copied before them, by `order`; what nobody declares comes last. `copy` copies it where
    parts of it have to fit together; else databases are copied before other files. `share` names it where sizes are
    told.
    """

    path: str
    order: int = 50
    when: When = "always"
    copy: Callable[[Copying, str], None] | None = None
    share: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Something that is stored of users, or needed for it.

    By `order` a conversation is forgotten and a person is erased: the derived before what it is made of. Facts take
    away the scope of a user's rows, so what finds its files by rows comes before them, as it does by default.
    """

    name: str
    order: int = 20
    tables: Mapping[str, Table] = field(default_factory=dict)  # of `mnemoir.db`
    files: Sequence[Files] = ()


_HOLDINGS: dict[str, Holding] = {}


def register(holding: Holding) -> Holding:
    """Add a holding to the list. Raises SettingsError for one without a name, and for a name or a table twice."""
    if not holding.name.strip():
        named = ", ".join([*holding.tables, *(files.path for files in holding.files)]) or "nothing"
        raise SettingsError(f"A holding, that of {named}, has no name. Give it one.")
    if holding.name in _HOLDINGS:
        raise SettingsError(f"There are two holdings named {holding.name!r}. Give one of them another name.")
    for name in holding.tables:
        owner = next((other.name for other in _HOLDINGS.values() if name in other.tables), None)
        if owner is not None:
            raise SettingsError(f"The table {name} of the holding {holding.name!r} is one of {owner!r} already.")
    _HOLDINGS[holding.name] = holding
    TABLES.update(holding.tables)
    return holding


def holdings() -> Sequence[Holding]:
    """All holdings, in the order in which a person is erased."""
    return sorted(_HOLDINGS.values(), key=lambda holding: holding.order)


def declared_files() -> Sequence[Files]:
    """The files of all holdings, in the order in which they are copied."""
    return sorted((files for holding in _HOLDINGS.values() for files in holding.files), key=lambda files: files.order)


IMPORTS = register(Holding(name="import", order=-10, tables=IMPORT_TABLES))  # it stops what puts jobs
JOBS = register(Holding(name="job", order=0, tables=JOB_TABLES))
RUNS = register(
    Holding(
        name="run",
        order=10,
        files=[
            Files(path=RUNS_FILE, order=5, when="all", share="runs"),
            Files(path=f"{RUNS_FILE}-*", when="all"),
        ],
    )
)
FACTS = register(
    Holding(
        name="fact",
        order=50,
        tables=FACT_TABLES,
        files=[Files(path=DATABASE_FILE, order=0, share="memories"), Files(path=CACHE, when="all")],
    )
)
PROPOSALS = register(Holding(name="proposal", order=60, tables=PROPOSAL_TABLES))
DISCUSSIONS = register(
    Holding(name="discussion", order=70, files=[Files(path=OWN_DISCUSSIONS, order=20, copy=copy_discussions)])
)
LOCKS = register(Holding(name="lock", order=75, files=[Files(path=f"{LOCK_FILES}*", when="never")]))
PERSONAL_DATA = register(Holding(name="personal", order=80, tables=PERSONAL_TABLES))
CONVERSATIONS_OF_USERS = register(
    Holding(
        name="conversation",
        order=90,
        tables=CONVERSATION_TABLES,
        files=[
            Files(path=CONVERSATIONS, order=10, copy=copy_user_folders, share="conversations"),
            Files(path=f"{CONVERSATIONS}/*/*/locks", when="never"),
            Files(path=f"{CONVERSATIONS}/*/*/cache", when="all"),
        ],
    )
)
ACCESS = register(
    Holding(
        name="access",
        order=100,
        files=[Files(path=ACCESS_FILE, when="keys"), Files(path="secrets", when="keys")],
    )
)
USAGE = register(Holding(name="usage", order=110, tables=USAGE_TABLES))
MODELS = register(Holding(name="model", order=120, files=[Files(path=f"{SAVED_MODELS}/*key-*.json", when="keys")]))
