"""Hashes of passwords, for a test that needs the real ones."""

import pytest
from argon2 import PasswordHasher

from mnemoir.access.sign_in import passwords


@pytest.fixture
def real_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes as they are made for people."""
    monkeypatch.setattr(passwords, "PasswordHasher", PasswordHasher)
