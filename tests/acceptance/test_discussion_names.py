"""Ids of discussions and links among their files that would lead elsewhere: none leaves the folder of discussions."""

import os
import unicodedata
from urllib.parse import quote

import pytest

from tests.acceptance.discussion_kit import open_house, said, settled
from tests.stages import staged
from tests.tree_kit import settle

CANARY = "k999 is a canary in a file outside."
IDS = (
    *("../x", "..\\x", "%2e%2e%2f", "%2e%2e%2fx", "..%2Fx", "/etc/x", "C:x", "x\0", ".", "..", "", " ", "x" * 300),
    *("x" * 250, "CON", "con.jsonl", "x.", "x ", "x", "X", "a", "A", "\u00e9", "e\u0301", "\u0430", "\u202ex"),
    *("x_memories.jsonl", "x_summary.jsonl", "x_vector_memory.db", "x.lock", "x_memories", "x_chat", "x_stale.jsonl"),
    *("x/memories.json", "~root", "$HOME", "{Discussion_Id}", "-rf", "\u200fx", "a\nb", "\u2028", "\U0001f375"),
    *("%users", "%"),
)
UNSPEAKABLE = (".", "..", "x\0")  # no path of a URL can name these, so nothing is kept under them
DIFFERENT = ("x", "X", "a", "A", "\u00e9", "e\u0301", "\u0430", "CON", "x_memories.jsonl", "x_chat", "%2e%2e%2f")
TALK = "linked"
LINKS = (
    "_memories.jsonl",
    "_summary.jsonl",
    "_vector_memory.db",
    ".lock",
    "",
    "_memories.json",
    "_chat_summary.json",
)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with open_house(tmp_path_factory.mktemp("names")) as opened:
        yield opened


@pytest.fixture
def house(running):
    running.model.clear()
    return running


def outside_of(folder, root):
    """What is below a folder, but for discussions and the server's own data: kind, size and time of each."""
    found = {}
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(at, name) not in (str(root), str(folder / "data"))]
        for name in [*folders, *files]:
            status = os.lstat(os.path.join(at, name))
            found[os.path.join(at, name)] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return {path: is_ for path, is_ in found.items() if path not in (str(folder), str(folder / "data.log"))}


def without_case(name):
    """What a file system without case and Unicode form makes of a name."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def by_tag(id, messages):
    return {"messages": [{"role": "system", "content": f"Be brief.[DiscussionId]{id}[/DiscussionId]"}, *messages]}


def by_field(id, messages):
    return {"messages": messages, "metadata": {"session_id": id}}


def by_header(id, messages):
    return {"messages": messages, "headers": {"X-Session-Id": id.encode()}}


def conversation_of(id):
    """One of its own for each id, so that every memory tells whose it is."""
    return said(7, first=100 + 10 * IDS.index(id), series="abcdefgh"[IDS.index(id) % 8])


@pytest.mark.costly("each name is tried")
@pytest.mark.parametrize("way", staged([by_tag, by_field, by_header], quick=1))
def test_an_id_is_refused_or_kept_below_the_folder_of_discussions_and_no_two_share_a_file(house, way):
    house.root.mkdir(exist_ok=True)
    before = outside_of(house.folder, house.root)
    for id in IDS:
        if (way is not by_tag and id != id.strip()) or (way is by_header and "\n" in id):
            continue  # spaces around it are cut off, and no header can hold a line break
        assert house.post(**way(id, conversation_of(id))).status_code in (200, 400, 422), id
        settle(house.server)
    assert outside_of(house.folder, house.root) == before

    listed = house.session.get(f"{house.server.url}/api/discussions?limit=1000", timeout=60).json()["results"]
    remembered = {one["id"] for one in listed}.intersection(IDS)
    assert set(DIFFERENT) <= remembered
    assert remembered.isdisjoint(UNSPEAKABLE)
    for id in remembered:
        house.remembers(id, settled(conversation_of(id)))
        assert house.rolling(id) == settled(conversation_of(id))
    files = [os.path.join(at, name) for at, _, names in os.walk(house.root) for name in names]
    assert all(os.path.dirname(file) == str(house.root) for file in files)
    assert len({without_case(os.path.basename(file)) for file in files}) == len(files)


def test_no_path_of_the_api_leads_out_of_the_folder_of_discussions(house):
    house.chat("api", said(7))
    before = outside_of(house.folder, house.root), sorted(os.listdir(house.root))
    for id in IDS:
        for encoded in {quote(id, safe=""), id.replace("\0", "%00").replace("\n", "%0A").replace("?", "%3F")} - {""}:
            for below in ("", "/memories", "/search?q=k999"):
                told = house.session.get(f"{house.server.url}/api/discussions/{encoded}{below}", timeout=60)
                assert told.status_code in (200, 400, 404, 405, 422), (id, told.text)
                assert CANARY not in told.text
    assert (outside_of(house.folder, house.root), sorted(os.listdir(house.root))) == before


@pytest.mark.parametrize("ending", LINKS)
def test_a_link_among_the_files_is_neither_read_nor_written_through(house, tmp_path, ending):
    link = TALK + ending
    for file in house.root.glob(f"{TALK}*"):
        file.unlink()
    house.root.mkdir(exist_ok=True)
    if link == TALK:
        (tmp_path / "memories.json").write_text(f'[{{"text_block": "{CANARY}", "hash": "0"}}]')
        (tmp_path / "chat_summary.json").write_text(f'[{{"text_block": "{CANARY}", "hash": "0"}}]')
        (house.root / link).symlink_to(tmp_path)
    else:
        line = f'{{"text_block": "{CANARY}", "hash": "0"}}'
        (tmp_path / "target").write_text(f"[{line}]" if link.endswith(".json") else f"{line}\n")
        (house.root / link).symlink_to(tmp_path / "target")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for length in (7, 11):
        house.chat(TALK, said(length))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert not any("k999" in asked.prompt for asked in house.model.llm.requests)
