"""The built-in model computes each vector here, and again for a text that it had before."""

import pytest

from mnemoir.providers.embedding.minilm_encoder import Encoder
from tests.embedded_once import COMPUTED


@pytest.fixture(autouse=True)
def _texts_are_embedded_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Encoder, "embed", COMPUTED)
