"""A third vector space, which is one more entry in the list: what holds for one holds for every space."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from mnemoir.app.parts import open_parts
from mnemoir.core.data_directory import DATABASE_FILE
from mnemoir.core.errors import ProviderUnavailable, SettingsError
from mnemoir.core.memories import Space
from mnemoir.core.scope import Scope
from mnemoir.models import spaces
from mnemoir.models.roles import ModelRole
from mnemoir.models.spaces import SpaceEntry
from mnemoir.ports.embedding import Embedding, EmbeddingModel, Passage
from mnemoir.search.index import ScopeIndex
from mnemoir.search.indexing import unpack_vector
from mnemoir.settings import load_settings
from mnemoir.upkeep.backups import Choice, create_backup
from mnemoir.upkeep.restoring import restore_backup
from tests.server.server_kit import Server
from tests.storage.sealing_kit import a_key

MIRA = Scope(project="default", user="mira")
PICTURE = "Took photo 34"
SHADES = Space("shades", "shades/1")


class Shades:
    """A model of what is no text: it knows the pictures by their number, as three shades of unit length."""

    name, dimension, reads_context = SHADES.model, 3, False
    is_down = False

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        if self.is_down:
            raise ProviderUnavailable("no picture can be seen now")
        return [Embedding(vector=shades_of(passage.text)) for passage in passages]

    async def warm(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


def shades_of(number: str) -> np.ndarray[Any, Any]:
    return np.array([int(number[0]), int(number[1]), 0], np.float32) / 5


class ShadesRole(ModelRole[EmbeddingModel | None]):
    async def choose(self, settings, session):
        return Shades()


ENTRY = SpaceEntry(
    name=SHADES.name,
    role=ShadesRole,
    asks=lambda settings, text, is_message: "photo" in text,
    passage=lambda text: Passage(text=text.text.rpartition(" ")[2]),
)


@pytest.fixture(autouse=True)
def _third_space(monkeypatch):
    monkeypatch.setattr(spaces, "SPACES", (*spaces.SPACES, ENTRY))


@pytest.fixture
def sealed(tmp_path):
    keys = tmp_path / "kek"
    keys.write_text(a_key())
    keys.chmod(0o600)
    return {"encryption.mode": "fields", "encryption.key_file": str(keys)}


async def keep(server: Server, *texts: str) -> list[str]:
    added = [
        await server.post(
            "/api/memories", {"messages": [{"role": "user", "content": text}], "user_id": "mira", "infer": False}
        )
        for text in texts
    ]
    return [one["results"][0]["id"] for one in added]


def filling(server: Server) -> Any:
    """What makes the vectors of the space."""
    names = [space.name for space in server.parts.models.spaces]
    return server.parts.upkeep.further_vectors[names.index(SHADES.name)]


async def entries(server: Server) -> list[Any]:
    rows = await server.parts.memory.store.reading(lambda view: view.rows_since(MIRA, -1))
    return [row.entry for row in rows]


def stored(folder: Path) -> list[tuple[Any, ...]]:
    """The rows of the space in the database."""
    connection = apsw.Connection(str(folder / DATABASE_FILE))
    found = list(connection.execute("SELECT seq, part, model, vector FROM vectors WHERE space = 'shades'"))
    connection.close()
    return found


def data_of(server: Server) -> Path:
    folder: Path = server.parts.settings.storage.data_dir
    return folder


@pytest.mark.parametrize("backend", ["sqlite", "file"])
async def test_its_vectors_are_made_of_the_texts_that_ask_and_read_by_the_index(open_server, tmp_path, backend):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    server = await open_server({"storage.backend": backend, "storage.workspace_root": str(workspace)})
    await keep(server, "Likes tea", PICTURE)
    await filling(server).look()
    assert await filling(server).backlog() == (0, 1)
    tea, picture = await entries(server)
    assert tea.vectors == {}
    assert unpack_vector(picture.vectors[SHADES]).tolist() == pytest.approx([0.6, 0.8, 0.0], abs=1e-3)
    rows = await server.parts.memory.store.reading(lambda view: view.rows_since(MIRA, -1))
    index = ScopeIndex("main", None, spaces=[SHADES])
    index.put(rows)
    assert index.vectors_in("shades").cosines(shades_of("34")).tolist() == pytest.approx(
        [np.nan, 1.0], abs=1e-3, nan_ok=True
    )


async def test_a_vector_waits_while_its_model_is_down_and_is_made_then(open_server, monkeypatch):
    monkeypatch.setattr(Shades, "is_down", True)
    server = await open_server({})
    await keep(server, PICTURE)
    await filling(server).look()
    assert ([each.waits for each in await entries(server)], await filling(server).backlog()) == (
        [frozenset(("shades",))],
        (1, 1),
    )
    monkeypatch.setattr(Shades, "is_down", False)
    await filling(server).look()
    [entry] = await entries(server)
    assert (entry.waits, list(entry.vectors)) == (frozenset(), [SHADES])


async def test_a_vector_is_encrypted_read_and_made_plain_again(open_server, sealed):
    async def opened(settings):
        server = await open_server(settings)
        encryption, parts = server.parts.upkeep.encryption, server.parts
        if settings:
            await encryption.bring_up_to_date(parts.memory.database, parts.memory.packs, parts.chats.conversations)
        return server

    server = await opened({})
    await keep(server, PICTURE, "Took photo 43")
    await filling(server).look()
    plain, folder = stored(data_of(server)), data_of(server)
    read = [each.vectors for each in await entries(server)]
    await server.parts.aclose()
    server = await opened(sealed)
    cells = stored(folder)
    assert all(vector.startswith(b"\x01E1:") for *_, vector in cells)
    assert [each.vectors for each in await entries(server)] == read
    await server.parts.aclose()
    server = await opened(sealed | {"encryption.mode": "off"})
    assert stored(folder) == plain


async def test_it_goes_with_the_memory_and_with_the_user(open_server):
    server = await open_server({})
    first, _ = await keep(server, PICTURE, "Took photo 43")
    await filling(server).look()
    await server.ask("DELETE", f"/api/memories/{first}")
    assert [row[0] for row in stored(data_of(server))] == [2]
    await server.ask("DELETE", "/api/memories?user_id=mira")
    assert stored(data_of(server)) == []


async def test_a_new_text_gets_a_new_vector_and_a_state_of_the_past_keeps_its_own(open_server):
    server = await open_server({})
    [picture] = await keep(server, PICTURE)
    await filling(server).look()
    await server.ask("PATCH", f"/api/memories/{picture}", {"memory": "Took photo 43"})
    await filling(server).look()
    of_all_times = server.parts.memory.store.of_all_times
    rows = await of_all_times.reading(lambda view: view.rows_since(MIRA, -1))
    made = [unpack_vector(row.entry.vectors[SHADES]).tolist() for row in rows]
    assert made == [pytest.approx([0.8, 0.6, 0.0], abs=1e-3), pytest.approx([0.6, 0.8, 0.0], abs=1e-3)]


async def test_a_backup_brings_it_back(open_server, open_parts_over, tmp_path):
    server = await open_server({})
    await keep(server, PICTURE)
    await filling(server).look()
    settings = server.parts.settings
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", Choice())
    await asyncio.to_thread(restore_backup, tmp_path / "backup", tmp_path / "new", open_parts=open_parts)
    assert stored(tmp_path / "new") == stored(data_of(server)) != []
    again = await open_server({"storage.data_dir": str(tmp_path / "new")})
    assert [list(each.vectors) for each in await entries(again)] == [[SHADES]]


async def test_two_spaces_of_one_name_stop_the_start_with_their_name(tmp_path, monkeypatch):
    monkeypatch.setattr(spaces, "SPACES", (*spaces.SPACES, ENTRY))
    settings = load_settings(None, {"storage.data_dir": tmp_path, "llm.provider": "offline"}, environ={})
    with pytest.raises(SettingsError, match="Two vector spaces have the name 'shades'"):
        await open_parts(settings)
