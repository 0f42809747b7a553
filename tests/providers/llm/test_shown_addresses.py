"""Addresses of models in traces contain no secret."""

import pytest

from mnemoir.ports.llm import Address, ChatModel
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.offline.model import OfflineModel
from mnemoir.providers.llm.openai_chat import OpenAIChat


@pytest.mark.parametrize(
    ("base_url", "shown"),
    [
        ("http://far:9/v1", "http://far:9/v1/chat/completions"),
        ("https://ann:s3cret-word@far/v1/", "https://far/v1/chat/completions"),
        (
            "https://far/v1?api-version=2024-10-21&sig=s3cret-word",
            "https://far/v1/chat/completions?api-version=2024-10-21&sig=API_KEY",
        ),
    ],
)
def test_an_address_shows_no_password_and_no_key(base_url, shown):
    assert Endpoint(base_url=base_url).shown_url("/chat/completions") == shown


@pytest.mark.parametrize("key", [None, "sk-canary-2718281828"])
async def test_a_remote_model_has_an_address_and_a_key_flag(session, key):
    model = OpenAIChat(Endpoint(base_url="http://far:9/v1", api_key=key), session)
    address = Address(url="http://far:9/v1/chat/completions", needs_key=key is not None)
    assert (model.address(stream=True), model.address(stream=False)) == (address, address)


def test_a_model_in_this_process_has_no_address():
    model: ChatModel = OfflineModel()
    assert model.address(stream=False) is None
