"""Index entries of project files, kept in the database so that vectors outlive the process.

Blocking functions inside the caller's transaction. An entry is valid only for the exact text it was made of; for
another text the words are indexed at once and the vector is left to the backlog.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date

import orjson

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.clock import day_text, midnight
from mnemoir.core.memories import IndexEntry, Memory
from mnemoir.ports.memory_store import Project, StoreCounts
from mnemoir.search.terms import TERMS_VERSION, beginning_of, terms_and_forms_of
from mnemoir.storage.files.contents import Contents, EntryOf
from mnemoir.storage.files.rows import Key, Row, key_of, text_hash
from mnemoir.storage.planning import seconds_of
from mnemoir.storage.sql.engine import Sql, Value, queries
from mnemoir.storage.sql.rows import NO_VECTORS, NOWHERE, further_vectors
from mnemoir.storage.statement_names import statement_names

_QUERIES = queries("project_files")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A memory whose text has no vector."""

    project: Project
    key: Key


def number_of(sql: Sql, project: Project) -> int | None:
    """The project's number in the side tables; None before the first write."""
    found = sql.row(_QUERIES["project"], **asdict(project))
    return None if found is None else int(found[0])


def enter(sql: Sql, project: Project) -> int:
    """The project's number, assigned if it had none."""
    sql.run(_QUERIES["add_project"], **asdict(project))
    return int(sql.row(_QUERIES["project"], **asdict(project))[0])


def synced_stamps(sql: Sql) -> dict[Project, str | None]:
    """Every project with an entry or a history, and the stamp of the file that its entries match."""
    rows = sql.rows(_QUERIES["all_projects"])
    return {Project(tenant=tenant, project=project): stamp for tenant, project, stamp in rows}


def entries_of(sql: Sql, project: Project) -> EntryOf:
    """A function from each memory of the project to its entry, without token codes."""
    stored: dict[Key, tuple[bytes, str | None, IndexEntry]] = {}
    number = number_of(sql, project)
    rows = sql.rows(_QUERIES["vectors"], number=number)
    further, waits = further_vectors(
        ((user, memory_id), space, model, vector) for user, memory_id, space, model, vector in rows
    )
    for user, memory_id, hashed, terms, terms_by, names, model, vector, token_ids in sql.rows(
        _QUERIES["entries"], number=number
    ):
        key = user, memory_id
        entry = IndexEntry(
            terms=terms,
            names=names or b"",
            model=model,
            vector=vector,
            token_ids=token_ids,
            vectors=further.get(key, NO_VECTORS),
            waits=waits.get(key, NOWHERE),
        )
        stored[key] = (hashed, terms_by, entry)

    def entry_of(memory: Memory) -> IndexEntry:
        hashed, terms_by, entry = stored.get(key_of(memory), (b"", None, None))
        if entry is None or hashed != text_hash(memory.text):
            entry, terms_by = IndexEntry(terms=b""), None
        if terms_by == TERMS_VERSION:
            return entry
        return replace(entry, terms=terms_and_forms_of(beginning_of(memory.text)), names=statement_names(memory))

    return entry_of


def token_codes(sql: Sql, project: Project, rows: Iterable[Row]) -> dict[int, bytes]:
    """Token codes by `seq`, of the rows that have any."""
    number = number_of(sql, project)
    found: dict[int, bytes] = {}
    for row in rows:
        codes = sql.row(_QUERIES["token_codes"], number=number, **_names(row.key), text_hash=row.text_hash)
        if codes is not None:
            found[row.seq] = codes[0]
    return found


def put(sql: Sql, number: int, entries: Iterable[tuple[Memory, IndexEntry]]) -> None:
    """Write the entries of memories."""
    named: list[tuple[dict[str, Value], Memory, IndexEntry]] = [
        ({"number": number, **_names(key_of(memory)), "text_hash": text_hash(memory.text)}, memory, entry)
        for memory, entry in entries
    ]
    sql.many(_QUERIES["empty_vectors"], [names for names, _, _ in named])
    sql.many(
        _QUERIES["put_entry"],
        [
            {
                **names,
                "said_at": seconds_of(memory.created_at),
                "terms": entry.terms,
                "terms_by": TERMS_VERSION,
                "names": entry.names or None,
                "model": entry.model,
                "vector": entry.vector,
                "token_ids": entry.token_ids,
                "token_codes": entry.token_codes,
            }
            for names, memory, entry in named
        ],
    )
    sql.many(_QUERIES["want_vector"], [{**names, "space": name} for names, _, entry in named for name in entry.waits])


def put_in_space(sql: Sql, number: int, space: str, entries: Iterable[tuple[Memory, IndexEntry]]) -> None:
    """Write the vectors of entries as those of a further space."""
    sql.many(
        _QUERIES["put_vector"],
        [
            {
                "number": number,
                **_names(key_of(memory)),
                "text_hash": text_hash(memory.text),
                "space": space,
                "model": entry.model,
                "vector": entry.vector,
            }
            for memory, entry in entries
        ],
    )


def want_vectors(sql: Sql, number: int, project: Project) -> None:
    """Have vectors made of all entries of the project's users in the further spaces that they are marked for."""
    sql.run(_QUERIES["want_vectors"], number=number, **asdict(project))


def drop(sql: Sql, number: int, keys: Iterable[Key]) -> None:
    """Delete the entries of memories that no longer exist."""
    sql.many(_QUERIES["drop_entry"], [{"number": number, **_names(key)} for key in keys])


def move_stamp(sql: Sql, number: int, before: Stamp | None, after: Stamp | None) -> None:
    """Set the stamp of the entries to the file's next one, if they matched the file before."""
    sql.run(_QUERIES["move_stamp"], number=number, before=stamp_text(before), stamp=stamp_text(after))


def sync(sql: Sql, project: Project, contents: Contents) -> None:
    """Sync the entries with the file: delete those of missing memories, write those of new or edited ones."""
    number = enter(sql, project)
    entries = sql.rows(_QUERIES["entry_hashes"], number=number)
    hashes: dict[Key, bytes] = {(user, memory_id): hashed for user, memory_id, hashed, _ in entries}
    times: dict[Key, float | None] = {(user, memory_id): said_at for user, memory_id, _, said_at in entries}
    rows = contents.by_key
    drop(sql, number, [key for key in hashes if key not in rows])
    changed = [row for key, row in rows.items() if hashes.get(key) != row.text_hash]
    put(sql, number, [(row.memory, row.search.entry) for row in changed])
    said = {key: seconds_of(rows[key].memory.created_at) for key in times.keys() & rows.keys()}
    moved = [{**_names(key), "said_at": said_at} for key, said_at in said.items() if said_at != times[key]]
    sql.many(_QUERIES["set_time"], [{"number": number, **each} for each in moved])
    want_vectors(sql, number, project)
    sql.run(_QUERIES["set_stamp"], number=number, stamp=stamp_text(contents.stamp))


def without_vector(
    sql: Sql, model: str, *, passed_over: Sequence[Project], limit: int, space: str | None = None
) -> list[Wanted]:
    """Memories without a vector of the model, oldest entry first, of all projects but `passed_over`.

    With a further `space`, those whose vector there is to be made.
    """
    query = _QUERIES["without_vector_in_space" if space else "without_vector"]
    numbers = [number_of(sql, project) or 0 for project in passed_over]
    passed = orjson.dumps(numbers).decode()
    return [
        Wanted(project=Project(tenant=tenant, project=project), key=(user, memory_id))
        for tenant, project, user, memory_id in sql.rows(
            query,
            space=space,
            model=model,
            passed_over=passed,
            limit=limit,
        )
    ]


def oldest_with_vector(sql: Sql, model: str) -> Wanted | None:
    """The oldest entry with a vector of the model; None without one."""
    row = sql.row(_QUERIES["oldest_with_vector"], model=model)
    return None if row is None else Wanted(project=Project(tenant=row[0], project=row[1]), key=(row[2], row[3]))


def backlog(sql: Sql, model: str, *, space: str | None = None) -> tuple[int, int]:
    """(memories without a vector of the model, all memories); of a further `space`, vectors to be made, and all."""
    missing, total = sql.row(_QUERIES["space_backlog" if space else "backlog"], space=space, model=model)
    return int(missing), int(total)


def counts(sql: Sql) -> StoreCounts:
    """The totals of indexed memories over all projects."""
    projects, users, memories = sql.row(_QUERIES["counts"])
    return StoreCounts(projects=projects, users=users, memories=memories)


def additions_by_day(sql: Sql, since: date) -> dict[str, int]:
    """The indexed memories added on each day, over all projects."""
    return {day_text(day): count for day, count in sql.rows(_QUERIES["added"], since=midnight(since))}


def _names(key: Key) -> dict[str, str]:
    return {"user": key[0], "memory_id": key[1]}


def stamp_text(stamp: Stamp | None) -> str | None:
    """The stamp as text for the table, because inode numbers may exceed its integers."""
    return None if stamp is None else f"{stamp.mtime_ns} {stamp.size} {stamp.inode} {stamp.ctime_ns}"
