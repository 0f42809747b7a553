"""Attachments: messages hold links, a store holds the bytes, and the model gets the original files."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.attachments.links import media_digest, read_link
from mnemoir.core.conversations import MediaPart, Message, TextPart
from mnemoir.core.errors import InvalidRequest, TooLarge
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.storage.objects.opening import open_objects
from tests.conversations.node_kit import PlainStore
from tests.workflows.nodes.pictures import bmp, gif, jpeg, png, webp

PNG = png()
DIGEST = sha256(PNG).hexdigest()
LINK = f"mnemoir:attachments/talk/{DIGEST}.png"


def data_url(content: bytes, mime_type: str = "image/png") -> str:
    return f"data:{mime_type};base64,{b64encode(content).decode()}"


def shown(*parts: MediaPart, text: str = "What is it?") -> Message:
    return Message("user", [*parts, TextPart(text)])


def picture(content: bytes = PNG, mime_type: str = "image/png") -> MediaPart:
    return MediaPart(type="image", url=data_url(content, mime_type))


def first_part(message: Message) -> MediaPart:
    assert isinstance(message.content, list)
    part = message.content[0]
    assert isinstance(part, MediaPart)
    return part


@pytest.fixture(params=["local", "memory"])
def attachments(request: pytest.FixtureRequest, tmp_path: Path) -> Attachments:
    return Attachments(open_objects(tmp_path / "objects" if request.param == "local" else "memory://"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "objects"


@pytest.fixture
def local(root: Path) -> Attachments:
    return Attachments(LocalObjects(root))


def files_below(root: Path) -> list[str]:
    return sorted(
        str(file.relative_to(root)) for file in root.rglob("*") if file.is_file() and file.suffix != ".lock"
    )


# --- putting away and bringing back


def test_a_picture_becomes_a_link_and_the_model_gets_the_original_bytes(attachments: Attachments) -> None:
    said = shown(picture())
    stored = attachments.put_away(said, "talk")
    assert stored == shown(MediaPart(type="image", url=LINK, mime_type="image/png", format="png"))
    (back,) = attachments.bring_back([stored])
    assert (first_part(back).data, back.text) == (data_url(PNG), "What is it?")


def test_inline_bytes_with_a_media_type_are_stored_too(attachments: Attachments) -> None:
    part = MediaPart(
        type="document",
        mime_type="text/plain",
        base64_data=b64encode(b"plain words").decode(),
        filename="notes.txt",
        tokens=3,
    )
    stored = attachments.put_away(shown(part), "talk")
    kept = first_part(stored)
    assert (kept.url, kept.base64_data) == (f"mnemoir:attachments/talk/{sha256(b'plain words').hexdigest()}.bin", "")
    back = first_part(attachments.bring_back([stored])[0])
    assert back.data == "data:text/plain;base64," + part.base64_data
    assert (back.filename, back.tokens, back.type) == ("notes.txt", 3, "document")


def test_a_data_url_without_base64_is_stored_as_its_bytes(attachments: Attachments) -> None:
    part = MediaPart(type="document", url="data:text/plain;charset=utf-8,two%20w%C3%B6rds")
    stored = attachments.put_away(shown(part), "talk")
    assert first_part(attachments.bring_back([stored])[0]).data == data_url("two wörds".encode(), "text/plain")


@pytest.mark.parametrize(
    ("content", "ending", "mime_type"),
    [
        (jpeg(), "jpg", "image/jpeg"),
        (gif(), "gif", "image/gif"),
        (webp(), "webp", "image/webp"),
        (bmp(), "bmp", "image/bmp"),
        (b"%PDF-1.7\n", "pdf", "application/pdf"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "wav", "audio/wav"),
        (b"\0\0\0\x18ftypM4A \0\0\0\0", "m4a", "audio/mp4"),
        (b"\0\0\0\x18ftypmp42\0\0\0\0", "mp4", "video/mp4"),
        (b"<script>alert(1)</script>", "bin", "image/png"),
    ],
)
def test_the_first_bytes_determine_the_type_of_a_file(
    attachments: Attachments, content: bytes, ending: str, mime_type: str
) -> None:
    kept = first_part(attachments.put_away(shown(picture(content)), "talk"))
    assert (kept.url.rpartition(".")[2], kept.format, kept.mime_type) == (ending, ending, mime_type)


def test_an_invalid_media_type_is_not_stored(attachments: Attachments) -> None:
    stored = attachments.put_away(shown(picture(b"??", 'image/"><b>')), "talk")
    assert first_part(stored).mime_type == "application/octet-stream"
    assert first_part(attachments.bring_back([stored])[0]).data == data_url(b"??", "application/octet-stream")


def test_text_tool_calls_and_web_addresses_stay_unchanged(local: Attachments, root: Path) -> None:
    remote = MediaPart(type="image", url="https://example.org/cat.png", detail="high")
    messages = [Message("user", "Hi"), Message("assistant", None), shown(remote), shown(text="only text")]
    stored = [local.put_away(message, "talk") for message in messages]
    assert stored == messages == local.bring_back(stored)
    assert not root.exists()


def test_bytes_beside_a_url_are_not_stored(local: Attachments, root: Path) -> None:
    both = MediaPart(type="image", url="https://example.org/cat.png", base64_data=b64encode(PNG).decode())
    assert local.put_away(shown(both), "talk") == shown(MediaPart(type="image", url=both.url))
    assert not root.exists()


def test_a_link_of_the_same_session_stays_unchanged(attachments: Attachments) -> None:
    stored = attachments.put_away(shown(picture()), "talk")
    assert attachments.put_away(stored, "talk") == stored


def test_a_file_sent_again_is_stored_once(local: Attachments, root: Path) -> None:
    local.put_away(shown(picture(), picture()), "talk")
    (file,) = (root / name for name in files_below(root))
    before = file.stat()
    local.put_away(shown(picture(mime_type="image/jpeg"), text="And now?"), "talk")
    assert files_below(root) == [f"attachments/talk/{DIGEST}.png"]
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert file.stat().st_mode & 0o077 == 0


# --- comparing messages


@given(st.binary(max_size=40))
def test_equal_files_have_equal_digests_in_every_form(content: bytes) -> None:
    encoded = b64encode(content).decode()
    sent = MediaPart(type="image", url=f"data:image/png;base64,{encoded}")
    stored = first_part(Attachments(PlainStore()).put_away(shown(sent), "talk"))
    carried = MediaPart(type="image", mime_type="image/webp", base64_data=encoded)
    digests = {media_digest(sent), media_digest(stored)} | ({media_digest(carried)} if encoded else set())
    assert digests == {sha256(content).hexdigest()}


def test_the_digest_of_a_linked_file_is_its_address_and_of_invalid_base64_its_text() -> None:
    remote = MediaPart(type="image", url="https://example.org/cat.png")
    broken = MediaPart(type="image", url="data:image/png;base64,%%%")
    assert media_digest(remote) == remote.url
    assert media_digest(broken) == sha256(broken.url.encode()).hexdigest()


# --- limits and bad input


@pytest.mark.parametrize("excess", [1, 1000])
def test_a_file_over_the_limit_is_refused_and_the_limit_named(excess: int) -> None:
    store = PlainStore()
    small, large = picture(b"s" * 100), picture(b"l" * (100 + excess))
    with pytest.raises(TooLarge, match="100 are allowed"):
        Attachments(store, most_bytes=100).put_away(shown(small, large), "talk")
    assert store.asked == []


@pytest.mark.parametrize(
    "url", ["data:image/png;base64,====", "data:image/png;base64,ü", "data:image/png;base64", "data:"]
)
def test_invalid_data_is_refused_before_anything_is_saved(url: str) -> None:
    store = PlainStore()
    with pytest.raises(InvalidRequest, match="attachment"):
        Attachments(store).put_away(shown(picture(), MediaPart(type="image", url=url)), "talk")
    assert store.asked == []


@pytest.mark.parametrize("session_id", ["../up", "..", "a/b", "x" * 500, "Zoë ☕", "%-", "~"])
def test_no_session_id_leads_to_files_of_another_session(local: Attachments, root: Path, session_id: str) -> None:
    stored = local.put_away(shown(picture()), session_id)
    others = local.put_away(shown(picture()), "talk")
    assert first_part(local.bring_back([stored])[0]).data == data_url(PNG)
    assert len(files_below(root / "attachments")) == 2
    assert local.delete(session_id) == 1
    assert first_part(local.bring_back([others])[0]).data == data_url(PNG)


@pytest.mark.parametrize(
    "url",
    [
        f"mnemoir:attachments/../{DIGEST}.png",
        f"mnemoir:attachments/a/../../{DIGEST}.png",
        "mnemoir:attachments/talk/../../../secret.bin",
        f"mnemoir:attachments/talk/{DIGEST}",
        "mnemoir:node_memory/app/talk/node.json",
        f"mnemoir:attachments/talk/{DIGEST}.png\n",
    ],
)
def test_an_invalid_link_reads_no_file(url: str) -> None:
    store = PlainStore({"node_memory/app/talk/node.json": b"{}", "secret.bin": b"secret"})
    assert read_link(url) is None
    assert Attachments(store).bring_back([shown(MediaPart(type="image", url=url))]) == [
        Message("user", "What is it?")
    ]
    assert store.asked == []


# --- what is gone or damaged


def test_a_missing_file_is_left_out_with_a_warning(attachments: Attachments) -> None:
    gone = attachments.put_away(shown(picture(b"gone")), "other")
    stored = [attachments.put_away(shown(picture()), "talk"), gone, Message("user", [first_part(gone)])]
    attachments.delete("other")
    with capture_logs() as logs:
        back = attachments.bring_back(stored)
    assert [message.content for message in back[1:]] == ["What is it?", []]
    assert first_part(back[0]).data == data_url(PNG)
    assert [(log["log_level"], log["cause"]) for log in logs] == [("warning", "not_found")] * 2


def test_one_missing_file_leaves_the_others(attachments: Attachments) -> None:
    stored = attachments.put_away(shown(picture(), picture(jpeg())), "talk")
    assert isinstance(stored.content, list)
    lost = MediaPart(type="image", url=f"mnemoir:attachments/talk/{'0' * 64}.png")
    stored.content[1] = lost
    assert attachments.bring_back([stored]) == attachments.bring_back([shown(first_part(stored))])


def test_damaged_bytes_are_never_shown(local: Attachments, root: Path) -> None:
    stored = local.put_away(shown(picture()), "talk")
    (root / files_below(root)[0]).write_bytes(PNG[:-1] + b"?")
    with capture_logs() as logs:
        assert local.bring_back([stored]) == [Message("user", "What is it?")]
    assert [log["cause"] for log in logs] == ["damaged"]


def test_an_unreadable_file_is_left_out_alone(local: Attachments, root: Path, tmp_path: Path) -> None:
    stored = local.put_away(shown(picture()), "talk")
    file = root / files_below(root)[0]
    file.rename(tmp_path / "outside.png")
    file.symlink_to(tmp_path / "outside.png")
    with capture_logs() as logs:
        assert local.bring_back([stored]) == [Message("user", "What is it?")]
    assert [log["cause"] for log in logs] == ["storage_unavailable"]


# --- copying and deleting


def test_deleting_a_session_deletes_all_its_files_and_no_others(local: Attachments, root: Path) -> None:
    local.put_away(shown(picture(), picture(jpeg())), "talk")
    local.put_away(shown(picture()), "talk-2")
    assert (local.delete("talk"), local.delete("talk")) == (2, 0)
    assert files_below(root) == [f"attachments/talk-2/{DIGEST}.png"]
    assert not (root / "attachments" / "talk").exists()


def test_a_branch_keeps_its_files_when_the_conversation_it_came_from_is_deleted(attachments: Attachments) -> None:
    stored = attachments.put_away(shown(picture()), "talk")
    own = attachments.put_away(stored, "branch")
    attachments.delete("talk")
    assert first_part(own).url == LINK.replace("/talk/", "/branch/")
    assert first_part(attachments.bring_back([own])[0]).data == data_url(PNG)


def test_all_files_of_a_session_are_copied_for_another(attachments: Attachments) -> None:
    attachments.put_away(shown(picture(), picture(jpeg())), "a/b")
    attachments.copy("a/b", "c/d")
    attachments.delete("a/b")
    links = [first_part(attachments.put_away(shown(picture(one)), "c/d")) for one in (PNG, jpeg())]
    assert len(attachments.bring_back([shown(*links)])[0].content or ()) == 3
    assert attachments.delete("c/d") == 2


def test_a_copy_of_a_missing_file_is_a_dangling_link(attachments: Attachments) -> None:
    link = MediaPart(type="image", url=f"mnemoir:attachments/talk/{'0' * 64}.png")
    with capture_logs() as logs:
        own = attachments.put_away(shown(link), "branch")
    assert first_part(own).url == link.url.replace("/talk/", "/branch/")
    assert [log["event"] for log in logs] == ["attachment left out"]
    assert attachments.bring_back([own]) == [Message("user", "What is it?")]
