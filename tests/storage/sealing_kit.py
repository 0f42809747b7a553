"""Keys for tests of encryption: a real key store, with a key in a file."""

from base64 import b64encode
from pathlib import Path

from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.providers import file_keys
from mnemoir.storage.sqlite.opening import open_key_store


def a_key(first: int = 1) -> str:
    """A key as text; another `first` gives another one."""
    return b64encode(bytes([first]) * 32).decode()


def ring_in(folder: Path, key: str = "") -> KeyRing:
    """The key ring of a folder, wrapped by a key in a file there."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = folder / "kek"
    keys.write_text(key or a_key())
    keys.chmod(0o600)
    return KeyRing(folder / "data-keys.db", file_keys(keys), open_key_store)


def cells_in(folder: Path, key: str = "", *, seals: bool = True) -> Cells:
    """What encrypts with the key ring of a folder."""
    return Cells(ring_in(folder, key), seals=seals)
