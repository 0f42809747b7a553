"""Pictures in requests: which addresses are taken, and that no file of this machine is one of them."""

from typing import Any

import pytest

from mnemoir.core.errors import InvalidRequest, ProviderRefused
from mnemoir.core.messages import ImagePart
from mnemoir.wire import openai_chat
from mnemoir.wire.pictures import read_picture, write_base64


def shown(part: dict[str, Any]) -> object:
    return openai_chat.read_request({"messages": [{"role": "user", "content": [part]}]}).request.messages[0].parts[0]


@pytest.mark.parametrize(
    "url", ["https://x.example/a.png", "HTTP://x.example/a", "data:image/webp;base64,UklGRAAA", "data:image/png,abc"]
)
def test_a_link_and_a_data_url_stay_as_they_are(url: str) -> None:
    assert shown({"type": "image_url", "image_url": {"url": url, "detail": "low"}}) == ImagePart(
        url=url, detail="low"
    )


@pytest.mark.parametrize(
    ("data", "kind"),
    [("iVBORw0KGgoA", "png"), ("/9j/4AAQ", "jpeg"), ("R0lGODlh", "gif"), ("UklGRiQA", "webp"), ("AAAA", "jpeg")],
)
def test_bare_base64_becomes_a_data_url_of_its_kind(data: str, kind: str) -> None:
    assert shown({"type": "image_url", "image_url": data}) == ImagePart(url=f"data:image/{kind};base64,{data}")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "ftp://x/a.png",
        "gopher://x",
        "/etc/passwd",
        "C:\\a.png",
        "a.b",
        "",
    ],
)
@pytest.mark.parametrize("kind", ["image_url", "image"])
def test_any_other_address_is_refused_by_its_field(url: str, kind: str) -> None:
    part = {"type": kind, "image_url": {"url": url}, "source": {"type": "url", "url": url}}
    with pytest.raises(InvalidRequest, match="must be a picture") as caught:
        shown(part)
    assert str(caught.value.field).startswith("messages[0].content[0].")


def test_the_base64_of_a_data_url_is_what_is_sent_where_links_are_not_followed() -> None:
    assert write_base64(read_picture("iVBORw0KGgoA", "images[0]")) == "iVBORw0KGgoA"
    with pytest.raises(ProviderRefused, match="as data only"):
        write_base64(ImagePart(url="https://x.example/a.png"))
