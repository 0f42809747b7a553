"""Encrypted backups: the files of a plain one, each sealed under a name that tells nothing.

A backup's key is the 32 bytes of a key file, or is made from a passphrase with scrypt and a salt. Files are sealed
with AES-256-GCM in pieces of 1 MiB, each with a random nonce: the piece is bound to the file's path, its place and
whether it is the last, so that none can be changed, moved or left out without being found. `backup.json` stays plain
and holds no more than what is needed to open the rest.
"""

import hmac
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mnemoir.core import first_use
from mnemoir.core.atomic_file import replacing, sync_folder
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.storage.backups.manifest import DATA_FOLDER, ENCRYPTED_VERSION, MANIFEST_FILE, Manifest, read_manifest
from mnemoir.storage.sqlite.transactions import storage_errors

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives.ciphers import aead
    from cryptography.hazmat.primitives.kdf import scrypt
else:
    aead = first_use.module("cryptography.hazmat.primitives.ciphers.aead")
    exceptions = first_use.module("cryptography.exceptions")
    scrypt = first_use.module("cryptography.hazmat.primitives.kdf.scrypt")

_PIECE = 1 << 20
_NONCE, _TAG = 12, 16
_KEY = 32
_COST = 2**16  # of scrypt: 64 MiB and some tenths of a second
_SHORTEST = 12  # characters of a passphrase


@dataclass(frozen=True, slots=True)
class BackupKey:
    """A key file's secret: a key, or a passphrase from which one is made."""

    _secret: bytes = field(repr=False)
    is_passphrase: bool

    @classmethod
    def read(cls, path: Path) -> "BackupKey":
        """The key in a file: 64 hexadecimal digits, or else a passphrase. Raises InvalidRequest."""
        try:
            text = path.read_text("utf-8").strip()
        except (OSError, ValueError) as exc:
            raise InvalidRequest(f"The key file {path} cannot be read: {exc}. Name another one.") from exc
        if len(text) == 2 * _KEY:
            with suppress(ValueError):
                return cls(bytes.fromhex(text), is_passphrase=False)
        if len(text) < _SHORTEST:
            raise InvalidRequest(
                f"The passphrase in {path} has {len(text)} characters, and needs {_SHORTEST}. A key is 64"
                " hexadecimal digits, as `openssl rand -hex 32` makes them."
            )
        return cls(text.encode(), is_passphrase=True)

    def for_salt(self, salt: bytes) -> "_Sealer":
        """What seals and opens the files of backups with this salt."""
        key = self._secret
        if self.is_passphrase:
            key = scrypt.Scrypt(salt=salt, length=_KEY, n=_COST, r=8, p=1).derive(key)
        return _Sealer(hmac.digest(key, b"files" + salt, "sha256"), salt)


class _Sealer:
    def __init__(self, key: bytes, salt: bytes) -> None:
        self.salt = salt
        self.check = hmac.digest(key, b"check", "sha256")
        self._names = hmac.digest(key, b"names", "sha256")
        self._cipher = aead.AESGCM(hmac.digest(key, b"contents", "sha256"))

    def name_of(self, path: str) -> str:
        """The name under which a file is stored."""
        return hmac.digest(self._names, path.encode("utf-8", "surrogateescape"), "sha256").hex()[:40]

    def seal(self, path: str, source: BinaryIO, target: BinaryIO) -> None:
        """Write the sealed bytes of a file."""
        piece, number = source.read(_PIECE), 0
        while True:
            following = source.read(_PIECE)
            nonce = secrets.token_bytes(_NONCE)
            target.write(
                nonce + self._cipher.encrypt(nonce, piece, _associated_data(path, number, is_last=not following))
            )
            if not following:
                return
            piece, number = following, number + 1

    def plain_pieces(self, path: str, source: BinaryIO, place: Path) -> Iterator[bytes]:
        """The decrypted pieces of a sealed file, in order. Raises StorageUnavailable that names a damaged piece."""
        sealed, number = source.read(_NONCE + _PIECE + _TAG), 0
        while True:
            following = source.read(_NONCE + _PIECE + _TAG)
            try:
                bound = _associated_data(path, number, is_last=not following)
                yield self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
            except (exceptions.InvalidTag, ValueError) as exc:
                raise StorageUnavailable(f"{place}: piece {number + 1} is damaged or missing") from exc
            if not following:
                return
            sealed, number = following, number + 1


def is_sealed(backup: Path) -> bool:
    """True for an encrypted backup."""
    return _head_of(backup) is not None


def made_at(backup: Path) -> str:
    """When a backup began. Raises StorageUnavailable for none."""
    head = _head_of(backup)
    return read_manifest(backup).made_at if head is None else str(head["made_at"])


def seal_backup(plain: Path, target: Path, key: BackupKey, former: Path | None) -> None:
    """Write a plain backup encrypted into an empty folder. Files that `former` has alike share its disk space.

    Raises StorageUnavailable.
    """
    manifest = read_manifest(plain)
    sealer, known = _sealer_like(former, key)
    with storage_errors(target, OSError):
        data = target / DATA_FOLDER
        data.mkdir(0o700)
        for entry in manifest.files:
            name = sealer.name_of(entry.path)
            if known is not None and former is not None and entry in known.files:
                with suppress(OSError):  # a file system without links, or a file that is gone
                    os.link(former / DATA_FOLDER / name, data / name)
                    continue
            with (plain / DATA_FOLDER / entry.path).open("rb") as source, replacing(data / name) as file:
                sealer.seal(entry.path, source, file)
        with (plain / MANIFEST_FILE).open("rb") as source, replacing(target / sealer.name_of(MANIFEST_FILE)) as file:
            sealer.seal(MANIFEST_FILE, source, file)
        sync_folder(data)
        head = {"version": ENCRYPTED_VERSION, "made_at": manifest.made_at, "program": manifest.program}
        sealed = {"is_passphrase": key.is_passphrase, "salt": sealer.salt.hex(), "check": sealer.check.hex()}
        with replacing(target / MANIFEST_FILE) as file:
            file.write(json.dumps({**head, "encryption": sealed}, indent=1).encode())


def open_backup(backup: Path, target: Path, key: BackupKey) -> None:
    """Write an encrypted backup plainly into an empty folder. Raises InvalidRequest for a wrong key, and
    StorageUnavailable that names a damaged file and piece."""
    head = _head_of(backup)
    if head is None:
        raise StorageUnavailable(f"{backup} is not encrypted.")
    sealer = _sealer_of(head, key)
    if sealer is None:
        raise InvalidRequest(f"The key is not the one of {backup}, which was made {head['made_at']}. Name its own.")
    with storage_errors(backup, OSError):
        _open(sealer, MANIFEST_FILE, backup / sealer.name_of(MANIFEST_FILE), target / MANIFEST_FILE)
        for entry in read_manifest(target).files:
            place = backup / DATA_FOLDER / sealer.name_of(entry.path)
            try:
                _open(sealer, entry.path, place, target / DATA_FOLDER / entry.path)
            except FileNotFoundError:
                raise StorageUnavailable(f"{place}: is missing") from None


def file_of(backup: Path, path: str, key: BackupKey) -> bytes | None:
    """The content of one file of an encrypted backup; None without it, and for another key.

    Raises StorageUnavailable for a damaged one.
    """
    head = _head_of(backup)
    sealer = None if head is None else _sealer_of(head, key)
    if sealer is None:
        return None
    place = backup / DATA_FOLDER / sealer.name_of(path)
    try:
        with storage_errors(place), place.open("rb") as source:
            return b"".join(sealer.plain_pieces(path, source, place))
    except FileNotFoundError:
        return None


def _open(sealer: _Sealer, path: str, place: Path, target: Path) -> None:
    target.parent.mkdir(0o700, parents=True, exist_ok=True)
    with place.open("rb") as source, replacing(target) as file:
        for piece in sealer.plain_pieces(path, source, place):
            file.write(piece)


def _sealer_like(former: Path | None, key: BackupKey) -> tuple[_Sealer, Manifest | None]:
    """What seals like the former backup, with its list; with a new salt where that has another key or none."""
    head = None if former is None else _head_of(former)
    sealer = None if head is None else _sealer_of(head, key)
    if former is None or sealer is None:
        return key.for_salt(secrets.token_bytes(16)), None
    try:
        place = former / sealer.name_of(MANIFEST_FILE)
        with place.open("rb") as source:
            return sealer, Manifest.from_bytes(b"".join(sealer.plain_pieces(MANIFEST_FILE, source, place)), former)
    except (OSError, StorageUnavailable):
        return sealer, None


def _sealer_of(head: dict[str, Any], key: BackupKey) -> _Sealer | None:
    sealed = head["encryption"]
    sealer = key.for_salt(bytes.fromhex(sealed["salt"]))
    return sealer if hmac.compare_digest(sealer.check, bytes.fromhex(sealed["check"])) else None


def _head_of(backup: Path) -> dict[str, Any] | None:
    """What `backup.json` of an encrypted backup says; None for another one, and where there is none."""
    try:
        head = json.loads((backup / MANIFEST_FILE).read_bytes())
        is_head = isinstance(head, dict) and {"salt", "check"} <= head["encryption"].keys() and head["made_at"]
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    return head if is_head and head.get("version") == ENCRYPTED_VERSION else None


def _associated_data(path: str, number: int, *, is_last: bool) -> bytes:
    return json.dumps([path, number, is_last]).encode()
