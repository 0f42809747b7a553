"""Short words for the tests of project files: a workspace as another program sees it, records and facts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from mnemoir.core.ids import new_memory_id
from mnemoir.core.memories import Add, IndexEntry, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.search import terms_of

ASKED = Provenance(reason="extracted")
MIRA = Scope(project="demo", user="mira")
NOON = "2026-03-04T12:00:00.000Z"


class Workspace:
    """The folder below which projects lie, seen the way another program sees it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def file(self, project: str = "demo") -> Path:
        return self.root / project / ".etienne" / "memories.json"

    def records(self, project: str = "demo") -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = orjson.loads(self.file(project).read_bytes())
        return records

    def texts(self, project: str = "demo") -> list[str]:
        return [record["memory"] for record in self.records(project)] if self.file(project).exists() else []

    def put(self, *records: dict[str, Any], project: str = "demo") -> None:
        self.put_bytes(orjson.dumps(list(records)), project=project)

    def put_bytes(self, content: bytes, project: str = "demo") -> None:
        file = self.file(project)
        file.parent.mkdir(parents=True, exist_ok=True)
        changed = file.with_name("from-elsewhere")
        changed.write_bytes(content)
        changed.replace(file)


def record(text: str, **members: Any) -> dict[str, Any]:
    identity = f"x-{text}"
    return {"id": identity, "memory": text, "user_id": "mira", "created_at": NOON, "metadata": None} | members


def words_only(text: str) -> IndexEntry:
    return IndexEntry(terms=terms_of(text))


def embedded(text: str, model: str = "m1") -> IndexEntry:
    return replace(words_only(text), model=model, vector=b"\0<" * 8, token_ids=b"\1\0", token_codes=b"c" * 6)


def fact(text: str, *, entry: IndexEntry | None = None, **members: Any) -> Add:
    memory = Memory(id=new_memory_id(), text=text, user="mira", created_at=NOON, updated_at=NOON)
    return Add(memory=replace(memory, **members), entry=entry or embedded(text))
