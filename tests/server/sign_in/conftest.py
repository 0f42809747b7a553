"""Hashes of passwords for these tests cost a thousandth of the real ones."""

from functools import partial

import pytest
from argon2 import PasswordHasher

from mnemoir.access.sign_in import passwords


@pytest.fixture(autouse=True)
def _cheap_hashes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "real_hashes" not in request.fixturenames:
        monkeypatch.setattr(
            passwords, "PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=16, parallelism=1)
        )


@pytest.fixture
def real_hashes() -> None:
    """Hashes as they are made for people."""
