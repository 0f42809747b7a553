"""Access to the tiktoken encodings whose files are on this machine.

tiktoken downloads an encoding when its file is missing or damaged. A memory server must not open connections by
itself, so tiktoken gets a name only after its file was found intact in tiktoken's cache.
"""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

# name → the last part of the address that names tiktoken's cache file, and the SHA-256 that tiktoken requires
_FILES = {
    "r50k_base": ("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"),
    "p50k_base": ("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"),
    "cl100k_base": ("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "o200k_base": ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
    "o200k_harmony": ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
}
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


class Encoding(Protocol):
    """The methods of a tiktoken encoding that are used here."""

    def encode_ordinary(self, text: str, /) -> Sequence[int]: ...

    def decode(self, tokens: Sequence[int], /) -> str: ...


def local_encoding(name: str) -> Encoding | None:
    """The encoding; None without tiktoken, for an unknown name, or when its file is missing or damaged."""
    if not _is_at_hand(name, _cache_folder()):
        return None
    try:
        tiktoken = import_module("tiktoken")
    except ImportError:
        return None
    return cast(Encoding, tiktoken.get_encoding(name))


@cache  # the files have megabytes, and counters are created often
def _is_at_hand(name: str, folder: str) -> bool:
    if name not in _FILES or not folder:
        return False
    stem, digest = _FILES[name]
    try:
        found = Path(folder, hashlib.sha1(_ADDRESS.format(stem).encode()).hexdigest()).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(found).hexdigest() == digest


def _cache_folder() -> str:
    """tiktoken's cache folder, by its own two variables; "" when caching is off."""
    usual = str(Path(tempfile.gettempdir(), "data-gym-cache"))
    return os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", usual))
