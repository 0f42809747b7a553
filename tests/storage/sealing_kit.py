"""Keys for tests of encryption: a real key store, with a key in a file."""

from base64 import b64encode
from pathlib import Path

from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.key_stores import KeyFile
from mnemoir.storage.sealing.providers import file_keys
from mnemoir.storage.sqlite.opening import open_key_store


def a_key(first: int = 1) -> str:
    """A key as text; another `first` gives another one."""
    return b64encode(bytes([first]) * 32).decode()


def write_key(folder: Path, key: str = "") -> Path:
    """The file in a folder with the key that wraps others."""
    keys = folder / "kek"
    keys.write_text(key or a_key())
    keys.chmod(0o600)
    return keys


def ring_in(folder: Path, key: str = "") -> KeyRing:
    """The key ring of a folder, wrapped by a key in a file there."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = write_key(folder, key)
    return KeyRing(KeyFile(folder / "data-keys.db", open_key_store), file_keys(keys))


def cells_in(folder: Path, key: str = "", *, seals: bool = True) -> Cells:
    """What encrypts with the key ring of a folder."""
    return Cells(ring_in(folder, key), seals=seals)
