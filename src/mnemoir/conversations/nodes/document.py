"""The JSON document of a node's memory of one conversation, version 1.

Version 1 exists in two shapes. `messages`, a list of records, is read and written; `turns`, by workflow run, is only
read. Unknown members are kept when a document is written again.

Large documents are compressed. JSON never begins with the first bytes of compressed data, so uncompressed documents
stay readable with every setting.
"""

import gzip
import importlib
import json
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from mnemoir.core.errors import SettingsError, StorageUnavailable

NODE_MEMORY_VERSION = 1
_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # for records without a time
Compression = Literal["gzip", "zstd", "off"]

COMPRESSED_ABOVE_BYTES = 64 * 1024
LARGEST_BYTES = 100 * 1024 * 1024  # of a decompressed document


class UnreadableDocument(Exception):
    """The bytes are not a node memory: they are damaged or something else."""


class NewerDocument(Exception):
    """The document was written by a later version of the program and must not be changed."""


class NodeMemoryFile(BaseModel):
    """A reference to a file of a record; it never holds the bytes."""

    model_config = ConfigDict(extra="allow")

    type: str  # image, audio, video, document, custom
    transfer_method: str  # local_file, remote_url, tool_file
    upload_file_id: str | None = None
    tool_file_id: str | None = None
    url: str | None = None
    belongs_to: str = "user"


class NodeMemoryMessage(BaseModel):
    """One message that the node sent or received in a turn. `message_id` names the turn.

    `token_count` comes from the counter in use when it was written, so other counters ignore it. Only records of
    nodes that call tools have the further members `tool_calls`, `tool_call_id` and `name`.
    """

    model_config = ConfigDict(extra="allow")

    message_id: str
    parent_message_id: str | None
    role: str  # user, assistant, tool
    content: str
    files: list[NodeMemoryFile] = []
    token_count: int | None = None
    created_at: datetime

    @field_validator("created_at")
    @classmethod
    def _in_utc(cls, instant: datetime) -> datetime:
        try:
            return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
        except OverflowError as exc:
            raise ValueError("a time beyond the calendar") from exc


class NodeMemoryData(BaseModel):
    """The whole document; records are in the order in which they were added."""

    model_config = ConfigDict(extra="allow")

    version: int = NODE_MEMORY_VERSION
    messages: list[NodeMemoryMessage] = []


def read_document(content: bytes) -> NodeMemoryData:
    """Parse a document of either shape. Raises UnreadableDocument or NewerDocument."""
    try:
        data = NodeMemoryData.model_validate_json(content)
    except ValidationError:
        return _read_leniently(content)
    if "messages" not in data.model_fields_set:
        return _read_leniently(content)
    _check_version(data.version)
    return data


def write_document(data: NodeMemoryData) -> bytes:
    """The document as JSON in UTF-8."""
    return data.model_copy(update={"version": NODE_MEMORY_VERSION}).model_dump_json().encode()


def as_json(value: Any) -> Any:
    """The value in JSON types: other objects as their `str`, lone surrogates as "?"."""
    return json.loads(json.dumps(value, default=str, ensure_ascii=False).encode("utf-8", "replace"))


def _read_leniently(content: bytes) -> NodeMemoryData:
    """Parse the shape `turns`, and documents with missing members. Raises UnreadableDocument that names the error."""
    try:
        raw = as_json(json.loads(content))
    except (ValueError, RecursionError) as exc:
        raise UnreadableDocument(f"it is not JSON: {type(exc).__name__}") from exc
    if not isinstance(raw, dict):
        raise UnreadableDocument("it is not a JSON object")
    _check_version(raw.get("version", NODE_MEMORY_VERSION))
    try:
        return NodeMemoryData.model_validate(_as_messages(raw))
    except ValidationError as exc:
        where = ".".join(str(step) for step in exc.errors()[0]["loc"])
        raise UnreadableDocument(f"{where} has the wrong shape") from exc


def _check_version(version: object) -> None:
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UnreadableDocument("its version is not a whole number above 0")
    if version > NODE_MEMORY_VERSION:
        raise NewerDocument(f"it has version {version}, and this program knows {NODE_MEMORY_VERSION}")


def _as_messages(raw: dict[str, Any]) -> dict[str, Any]:
    if "messages" in raw or not raw.keys() - {"version"}:
        return {**raw, "messages": [_record(entry) for entry in _list(raw.get("messages", []))]}
    if not isinstance(raw.get("turns"), dict):
        raise UnreadableDocument("it holds neither messages nor turns")
    records = [record for run, turn in raw["turns"].items() for record in _records_of_run(run, turn)]
    return {**{name: value for name, value in raw.items() if name != "turns"}, "messages": records}


def _record(entry: Any) -> Any:
    """The record with defaults: a missing parent becomes None, null for files an empty list."""
    if not isinstance(entry, dict):
        return entry
    return {"parent_message_id": None, **entry, "files": entry.get("files") or []}


def _records_of_run(run: str, turn: object) -> list[dict[str, Any]]:
    if not isinstance(turn, dict):
        raise UnreadableDocument("a turn of it is not an object")
    return [_record_of_side(run, turn, "user"), _record_of_side(run, turn, "assistant")]


def _record_of_side(run: str, turn: Mapping[str, Any], side: Literal["user", "assistant"]) -> dict[str, Any]:
    files = _list(turn.get(f"{side}_files") or [])
    return {
        "message_id": run,
        "parent_message_id": None,
        "role": side,
        "content": turn.get(f"{side}_content") or "",
        "files": [{**file, "belongs_to": side} if isinstance(file, dict) else file for file in files],
        "created_at": _UNKNOWN_TIME,
    }


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise UnreadableDocument("a list of it is something else")
    return value


_GZIP_MAGIC, _ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_GZIP_LEVEL = 1  # 500 kB of LoCoMo turns: 2.7 ms at 4.2 to 1; level 6 takes 9.8 ms for 5.1 to 1
_ZSTD_WINDOW_BYTES = 128 * 1024 * 1024
_ZSTD_SLICE_BYTES = 256  # decompresses to 8 MiB at most; zstd itself has no limit on its output
_GZIP_WINDOW = 31  # makes zlib expect a gzip header


def pack(document: bytes, compression: Compression = "gzip") -> bytes:
    """The bytes to store. Raises SettingsError for zstd when it is not installed."""
    if compression == "off" or len(document) <= COMPRESSED_ABOVE_BYTES:
        return document
    if compression == "gzip":
        return gzip.compress(document, _GZIP_LEVEL, mtime=0)
    zstd = _zstandard()
    if zstd is None:
        raise SettingsError("Node memory is to be compressed by zstd: pip install zstandard, or choose gzip.")
    return bytes(zstd.ZstdCompressor().compress(document))


def unpack(stored: bytes, *, largest: int = LARGEST_BYTES) -> bytes:
    """The stored document, decompressed.

    Raises UnreadableDocument for a stream that is cut off, damaged or longer than `largest` bytes when decompressed,
    and StorageUnavailable for zstd when it is not installed: the document is intact, but not readable here.
    """
    if stored.startswith(_GZIP_MAGIC):
        return _ungzip(stored, largest)
    if stored.startswith(_ZSTD_MAGIC):
        return _unzstd(stored, largest)
    return stored


def _ungzip(stored: bytes, largest: int) -> bytes:
    stream = zlib.decompressobj(_GZIP_WINDOW)
    try:
        document = stream.decompress(stored, largest + 1)
    except zlib.error as exc:
        raise UnreadableDocument(f"it cannot be unpacked: {exc}") from exc
    return _whole(document, largest, is_at_end=stream.eof and not stream.unused_data)


def _unzstd(stored: bytes, largest: int) -> bytes:
    zstd = _zstandard()
    if zstd is None:
        raise StorageUnavailable("A node memory is compressed by zstd, which is missing: pip install zstandard.")
    stream = zstd.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()
    document = bytearray()
    try:
        for at in range(0, len(stored), _ZSTD_SLICE_BYTES):
            if stream.eof or len(document) > largest:
                break
            document += stream.decompress(stored[at : at + _ZSTD_SLICE_BYTES])
    except zstd.ZstdError as exc:
        raise UnreadableDocument(f"it cannot be unpacked: {exc}") from exc
    return _whole(bytes(document), largest, is_at_end=stream.eof and not stream.unused_data)


def _whole(document: bytes, largest: int, *, is_at_end: bool) -> bytes:
    if len(document) > largest:
        raise UnreadableDocument(f"it is longer than {largest} bytes when unpacked")
    if not is_at_end:
        raise UnreadableDocument("its compressed data is cut off, or continues after its end")
    return document


def _zstandard() -> Any:  # the module, which is optional; None without it
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        return None
