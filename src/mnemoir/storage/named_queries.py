"""The named queries of `queries/`: one text for SQLite and PostgreSQL.

Stores name a query by its SQLite text, which is worked out once, at import; an engine of PostgreSQL looks up the
other form by it. A file begins with the types of the values that its queries bind, by which PostgreSQL prepares them,
or says why it is SQLite's alone. Text that several queries of a file share is written once, under `-- part: …`, and
replaces `{its name}` in them; what several files of a folder share stands in its `parts.sql`. Other braces are
markers for what the two databases write differently:

| marker | SQLite | PostgreSQL |
|---|---|---|
| `{in names}`, `{not in names}` | membership in a bound JSON list | the same |
| `{list names} AS one` | its rows, with a `value` and its place `key` | the same |
| `{then join}` | `CROSS JOIN`: no other order of tables | `JOIN` |
| `{by index}` | `INDEXED BY index` | nothing |
| `{unindexed column}` | `+column`: no index of the column is used | the column |
| `{bytes text}` | a text as its bytes, so that a damaged one costs only itself | the text |
| `{cell table.column}` | the same of a sealed column, under its full name, as bytes are of no column | the text |
| `{held}` | nothing: there is one writer | the rows are locked until the transaction ends |
| `{held unless taken}` | nothing | the same, without those that another transaction holds |
| `{next table.column}` | the highest number, and one | the next number of the column, which nobody else gets |
| `{entered number}` | the number | the same; from now on the transaction sees the rows of that scope |
| `{clock name}` | the bound time | the database's own clock, which is one for all programs; seconds since 1970 |
| `{before all}`, `{behind all}` | a value that sorts before, behind all texts | the same |

What no marker can say is written again, under `-- postgres: …` with the name of the query or part.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_BLOCK = re.compile(
    r"^-- (name|part|postgres): (\w+)\n(.*?)(?=^-- (?:name|part|postgres): |\Z)", re.DOTALL | re.MULTILINE
)
_TYPES = re.compile(r"^-- (text|integer|real|bytes|boolean|texts|integers): (.+)$", re.MULTILINE)
_ALONE = re.compile(r"^-- sqlite alone: ", re.MULTILINE)
_BRACES = re.compile(r"\{([^{}]+)\}")
_COMMENT = re.compile(r"--.*")
_TOKEN = re.compile(r"'(?:[^']|'')*'|::|:(\w+)|(?<![\w.\"])(user)\b|(%)")  # strings are left as they are
_COLUMN_TYPES = {
    "text": "text",
    "integer": "bigint",
    "real": "double precision",
    "bytes": "bytea",
    "boolean": "boolean",
    "texts": "text",
    "integers": "bigint",
}
_LISTS = ("texts", "integers")  # bound as JSON
_PARTS = "parts"  # the file of what the files of a folder share
Types = Mapping[str, str]  # of bound values, by name: what a file of queries calls them
Marker = Callable[[str, Types], str]
_OF_EVERY_FILE: Types = {"scope_id": "integer"}  # bound by the transaction
_made: dict[str, Types] = {}  # by the texts of queries, of which there are some for each table


def _elements(name: str, types: Types) -> str:
    """The elements of a bound JSON list in PostgreSQL."""
    of_list = _COLUMN_TYPES[types[name]]
    return f"ANY (ARRAY(SELECT jsonb_array_elements_text(:{name}))::{of_list}[])"


def _rows_of_list(name: str, types: Types) -> str:
    of_list = _COLUMN_TYPES[types[name]]
    each = f"jsonb_array_elements_text(:{name}) WITH ORDINALITY AS each (value, key)"
    return f"(SELECT each.value::{of_list} AS value, each.key FROM {each})"  # noqa: S608  # names of ours


_SQLITE: Mapping[str, Marker] = {
    "in": lambda name, _: f"IN (SELECT value FROM json_each(:{name}))",  # noqa: S608  # names of ours
    "not in": lambda name, _: f"NOT IN (SELECT value FROM json_each(:{name}))",  # noqa: S608  # the same
    "list": lambda name, _: f"json_each(:{name})",
    "then join": lambda *_: "CROSS JOIN",
    "by": lambda index, _: f"INDEXED BY {index}",
    "unindexed": lambda column, _: f"+{column}",
    "bytes": lambda text, _: f"CAST({text} AS BLOB)",
    "cell": lambda column, _: f'CAST({column} AS BLOB) AS "{column}"',
    "held unless taken": lambda *_: "",
    "held": lambda *_: "",
    "next": lambda place, _: "coalesce(max({1}), 0) + 1 FROM {0}".format(*place.split(".")),
    "entered": lambda number, _: number,
    "clock": lambda name, _: f":{name}",
    "before all": lambda *_: "-9e999",
    "behind all": lambda *_: "x'ff'",
}
_POSTGRES: Mapping[str, Marker] = {
    "in": lambda name, types: f"= {_elements(name, types)}",
    "not in": lambda name, types: f"<> {_elements(name, types).replace('ANY', 'ALL', 1)}",
    "list": _rows_of_list,
    "then join": lambda *_: "JOIN",
    "by": lambda *_: "",
    "unindexed": lambda column, _: column,
    "bytes": lambda text, _: text,
    "cell": lambda column, _: f'{column} AS "{column}"',
    "held unless taken": lambda *_: "FOR UPDATE SKIP LOCKED",
    "held": lambda *_: "FOR UPDATE",
    "next": lambda place, _: "nextval(pg_get_serial_sequence('{}', '{}'))".format(*place.split(".")),
    "entered": lambda number, _: f"set_config('mnemoir.scope', {number}::text, true)::bigint",
    "clock": lambda *_: "extract(epoch FROM clock_timestamp())::double precision",
    "before all": lambda *_: "''",
    "behind all": lambda *_: "chr(1114111)",
}


@cache
def queries(subject: str) -> Mapping[str, str]:
    """The queries of `queries/<subject>.sql` by name, with their comments, which then show in database traces."""
    return _texts(_source(subject), _SQLITE, {}, is_postgres=False)


@cache
def postgres_queries(subject: str) -> Mapping[str, str]:
    """The same for psycopg, whose placeholders are `%(name)s`; {} for a file that is SQLite's alone."""
    source = _source(subject)
    if _ALONE.search(source) is not None:
        return {}
    types = types_of(subject)
    texts = _texts(source, _POSTGRES, types, is_postgres=True)
    return {name: f"-- {subject}.{name}\n{as_postgres(text, types)}" for name, text in texts.items()}


@cache
def postgres_forms() -> Mapping[str, str]:
    """PostgreSQL's form of every query by the SQLite text that stores name it by."""
    every = [subject for database in databases() for subject in subjects(database)]
    forms = ((queries(subject)[name], text) for subject in every for name, text in postgres_queries(subject).items())
    return dict(forms)


@cache
def types_of(subject: str) -> Types:
    """The types of the values that the queries of a file bind, by name."""
    listed = {name: kind for kind, names in _TYPES.findall(_source(subject)) for name in names.split(", ")}
    return {**_OF_EVERY_FILE, **listed}


def made_query(text: str, types: Types) -> str:
    """The text of a query that is made of what is told of a table; noted are the types of what it binds."""
    _made[text] = {**_OF_EVERY_FILE, **types}
    return text


def postgres_form(query: str) -> str:
    """PostgreSQL's form of a query, by its SQLite text. Raises KeyError for one that is neither named nor made."""
    return postgres_forms().get(query) or as_postgres(query, _made[query])


def as_postgres(query: str, types: Types) -> str:
    """A query without markers for psycopg, every bound value with its type. Raises KeyError for one without."""

    def replace(token: re.Match[str]) -> str:
        value, user, percent = token.groups()
        if value is not None:
            kind = types[value]
            return f"%({value})s::{'jsonb' if kind in _LISTS else _COLUMN_TYPES[kind]}"
        if user is not None:
            return '"user"'
        return "%%" if percent is not None else token[0].replace("%", "%%")

    return _TOKEN.sub(replace, _COMMENT.sub("", query)).strip()


@cache
def subjects(database: str = "") -> Sequence[str]:
    """All files of queries over a database ("" for `mnemoir.db`), in name order."""
    folder = _folder() / database
    names = sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [f"{database}/{name}" if database else name for name in names if name != _PARTS]


@cache
def databases() -> Sequence[str]:
    """All databases that have queries, in name order; "" for `mnemoir.db`."""
    return ["", *sorted(entry.name for entry in _folder().iterdir() if entry.is_dir())]


def _texts(source: str, markers: Mapping[str, Marker], types: Types, *, is_postgres: bool) -> Mapping[str, str]:
    """The queries with parts and markers replaced, for PostgreSQL in its own words where there are such."""
    blocks = [(kind, name, body.strip()) for kind, name, body in _BLOCK.findall(source)]
    own = {name: body for kind, name, body in blocks if kind == "postgres" and is_postgres}
    parts: dict[str, str] = {name: own.get(name, body) for kind, name, body in blocks if kind == "part"}

    def replace(braces: re.Match[str]) -> str:
        if braces[1] in parts:
            return parts[braces[1]]
        marker = next((one for one in markers if f"{braces[1]} ".startswith(f"{one} ")), None)
        if marker is None:
            raise ValueError(f"{braces[0]} is no part of its file and no marker; {__name__} tells those there are.")
        return markers[marker](braces[1].removeprefix(marker).strip(), types)

    def whole(text: str) -> str:
        return _BRACES.sub(replace, _BRACES.sub(replace, text))  # a part may have markers

    return {name: whole(own.get(name, body)) for kind, name, body in blocks if kind == "name"}


def _source(subject: str) -> str:
    file = _folder() / f"{subject}.sql"
    parts = _folder() / subject.rpartition("/")[0] / f"{_PARTS}.sql"
    return "\n".join(each.read_text("utf-8") for each in (file, parts) if each.is_file())


def _folder() -> Traversable:
    return files("mnemoir.storage.sql") / "queries"
