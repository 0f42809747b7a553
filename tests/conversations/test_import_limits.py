"""Malicious files: a limit refuses them before they cost time or memory, and nothing of them is stored."""

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.conversations import MemoryManager
from mnemoir.conversations.transfer import import_sessions
from mnemoir.conversations.transfer.bounded_json import array_items, read_value
from mnemoir.conversations.transfer.copies import ImportTooLarge, InvalidImport
from tests.conversations.transfer_kit import HEADER, lines
from tests.stages import staged

MANY = 10**6
MOST_MIB = 64  # beside the file itself
CLEAR = Path("/proc/self/clear_refs")


@pytest.fixture
def store(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


def keys() -> bytes:
    return b"{" + b",".join(b'"k%d":0' % at for at in range(MANY)) + b"}"


def deep(opening: bytes, closing: bytes) -> bytes:
    return opening * 200_000 + b"1" + closing * 200_000


def in_places(value: bytes) -> list[bytes]:
    """The value alone, in a list, in a chat, in a line, and within one."""
    return [
        value,
        b"[" + value + b"]",
        b'[{"chat":{"history":{"messages":' + value + b"}}}]",
        lines() + value,
        json.dumps({**HEADER, "session": {}}).encode()[:-2] + b'"custom":' + value + b"}}\n",
    ]


def assert_refused(store: MemoryManager, file: bytes, error: type[InvalidImport] = InvalidImport) -> None:
    before = peak_mib(anew=True)
    with pytest.raises(error):
        import_sessions(store, file)
    assert peak_mib() - before < MOST_MIB
    assert store.list_sessions() == []


def peak_mib(*, anew: bool = False) -> int:
    """The most memory that this process has held, from now on when it is to be counted anew; 0 where none tells."""
    if not CLEAR.exists():
        return 0
    if anew:
        CLEAR.write_text("5")
    [line] = [line for line in (CLEAR.parent / "status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":['])
def test_values_of_many_levels_are_refused(store, opening):
    closing = {b"[": b"]", b'{"a":': b"}", b'[{"a":[': b"]}]"}[opening]
    for file in in_places(deep(opening, closing)):
        assert_refused(store, file)
    with pytest.raises(ImportTooLarge, match="100 levels"):
        import_sessions(store, lines() + b'{"role":"user","x":' + deep(opening, closing) + b"}")


@pytest.mark.slow
def test_objects_and_lists_of_many_values_are_refused(store):
    many = keys()
    for file in in_places(many)[1:4]:
        assert_refused(store, file, ImportTooLarge)
    for value in (b"[" + b"0," * MANY + b"0]", b"[" + b"{}," * MANY + b"{}]"):
        assert_refused(store, lines() + b'{"role":"user","x":' + value + b"}", ImportTooLarge)


@pytest.mark.parametrize(
    "value",
    [
        *("1" * 5000, "-" + "9" * 41, "1e999", "-1e999", "NaN", "Infinity", "-Infinity", "0." + "1" * 5000 + "e400"),
        *('{"a":1,"a":1}', '{"a":{"b":1,"b":2}}', '{"a":1,"\\u0061":1}'),
    ],
)
def test_numbers_and_members_that_are_read_in_several_ways_are_refused(store, value):
    for file in in_places(value.encode())[1:]:
        assert_refused(store, file)
    assert_refused(store, lines() + b'{"role":"user","x":' + value.encode() + b"}")


@pytest.mark.parametrize(
    "file",
    [
        bytes(8 * 2**20),
        b"[" + b" " * 8 * 2**20,
        b"\n" * 8 * 2**20,
        b'[{"a":"' + b"x" * 8 * 2**20,
        b'[{"a":"' + b"\\" * (8 * 2**20 + 1) + b'"}]',
        b"[{}" + b",{}" * 2**20,
        b"{" * 8 * 2**20,
        b'{"' * 2**20,
    ],
    ids=["zeros", "blanks", "lines", "text", "backslashes", "objects", "brackets", "quotes"],
)
def test_long_files_without_content_are_refused(store, file):
    assert_refused(store, file)


class Endless(io.RawIOBase):
    """A file of as many gibibytes as one likes."""

    def __init__(self, beginning: bytes) -> None:
        super().__init__()
        self._beginning, self._at = beginning, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset
        return offset

    def readinto(self, buffer) -> int:
        piece = self._beginning[self._at : self._at + len(buffer)] or b"x" * len(buffer)
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


@pytest.mark.costly("it is about large texts")
@pytest.mark.parametrize("beginning", staged([b'[{"a":"', b'{"a":"', lines()], quick=1))
def test_a_file_without_end_is_refused(store, beginning):
    with pytest.raises(ImportTooLarge):
        import_sessions(store, io.BufferedReader(Endless(beginning), 2**20))
    assert store.list_sessions() == []


def archive(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as packed:
        for name, value in files.items():
            packed.writestr(name, value)
    return made.getvalue()


def with_link() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        link = zipfile.ZipInfo("conversations.json")
        link.external_attr = 0o120777 << 16
        packed.writestr(link, "/etc/passwd")
    return made.getvalue()


def bomb(name: str, mebibytes: int, byte: bytes = b"\0") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed, packed.open(name, "w", force_zip64=True) as file:
        for _ in range(mebibytes):
            file.write(byte * 2**20)
    return made.getvalue()


def claiming(data: bytes, size_bytes: int) -> bytes:
    """The archive with another size of its first file in the directory."""
    at = data.rindex(b"PK\x01\x02") + 24
    return data[:at] + struct.pack("<L", size_bytes) + data[at + 4 :]


@pytest.mark.parametrize(
    ("file", "cause"),
    [
        (archive({"../conversations.json": b"[]"}), "path outside of it"),
        (archive({"conversations.json": b"[]", "a/../../b": b""}), "path outside of it"),
        (archive({"/conversations.json": b"[]"}), "path outside of it"),
        (archive({"..\\conversations.json": b"[]"}), "path outside of it"),
        (with_link(), "a link"),
        (archive({"conversations.json": b"[]"}, zipfile.ZIP_BZIP2), "packed in a way"),
        (archive({"conversations.json": b"[]"}, zipfile.ZIP_LZMA), "packed in a way"),
        (archive({"user.json": b"[]"}), "no conversations.json"),
        (archive({f"{at}{'x' * 60_000}": b"" for at in range(40)}), "too many entries"),
        (lambda: bomb("conversations.json", 100), "Unpack it"),
        (lambda: bomb("conversations.json", 100, b" "), "Unpack it"),
        (claiming(archive({"conversations.json": b"[]"}), 2**31), "Unpack it"),
        (claiming(archive({"conversations.json": b"[]" + b" " * 300}), 5), "begins no list|continues|damaged"),
        (archive({"conversations.json": b"[]"})[:-5], "cut off"),
        (b"PK\x03\x04" + bytes(1000), "cut off"),
        (b"PK\x03\x04" + bytes(30) + b"PK\x05\x06" + bytes(18), "no conversations.json|damaged"),
    ],
)
def test_archives_made_to_harm_are_refused(store, file, cause):
    file = file() if callable(file) else file  # what takes long to make is made for the test that needs it
    with pytest.raises(InvalidImport, match=cause):
        import_sessions(store, file)
    assert_refused(store, file)


def test_an_archive_that_is_damaged_anywhere_is_refused_or_read_whole(store):
    talk = [{"id": "c", "mapping": {"a": {"message": None, "parent": None}}, "title": "T" * 500}]
    whole = archive({"conversations.json": json.dumps(talk).encode()}, zipfile.ZIP_STORED)
    for at in range(0, len(whole), 7):
        damaged = whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :]
        try:
            import_sessions(store, damaged)
        except InvalidImport:
            assert store.list_sessions() == []
        for session in store.list_sessions():
            store.delete_session(session.id)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.costly("each place to cut is tried")
@settings(max_examples=25, deadline=None)
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=4), st.integers(1, 40), st.booleans())
def test_a_list_is_taken_apart_as_a_reader_of_it_all_would(items, most, plain):
    """Whatever pieces the file comes in."""

    class Drops(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(most, size if size and size > 0 else most))

    raw = json.dumps(items, ensure_ascii=plain, indent=None if plain else 1).encode("utf-8", "surrogatepass")
    assert [json.loads(item) for item in array_items(Drops(raw), "Item")] == items


@settings(max_examples=25, deadline=None)
@given(JSON)
def test_a_value_is_read_as_any_reader_would(value):
    assert read_value(json.dumps(value).encode(), "It") == value


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise_another_error(raw):
    for read in (lambda: read_value(raw, "It"), lambda: list(array_items(io.BytesIO(b"[" + raw), "Item"))):
        try:
            read()
        except InvalidImport:
            continue
