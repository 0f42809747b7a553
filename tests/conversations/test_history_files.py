"""Files of old turns in a history, and files that cannot be shown."""

from typing import Literal

import pytest
from structlog.testing import capture_logs

from mnemoir.conversations.log.files import (
    FileRef,
    FileTransferMethod,
    FileUploadConfig,
    ImageConfig,
    file_ref,
    history_detail,
    media_type,
    read_file_upload,
)
from mnemoir.conversations.turns.token_buffer import TokenBufferMemory
from mnemoir.core.conversations import MediaPart, Message, TextPart
from mnemoir.core.errors import SettingsError
from tests.conversations.chats import IMAGES_ON, LetterModel, attachment, chat, line, shelf, turn


def shown(*attachments, files=None, turns=None, model=None, **more) -> list[Message]:
    """The history of a chat whose first turn has these files."""
    files = files or shelf(*(one.upload_file_id for one in attachments))
    talk = chat(turns or line(1), *attachments, files=files, **more)
    return TokenBufferMemory(talk, model or LetterModel()).get_history_prompt_messages()


def image(name: str, detail: Literal["low", "high"] = "low") -> MediaPart:
    return MediaPart(
        type="image",
        mime_type="image/png",
        base64_data="QUJD",
        format="png",
        filename=name,
        detail=detail,
        tokens=7,
    )


def test_files_stand_first_in_their_order_and_the_text_last():
    history = shown(attachment("t0", "b.png"), attachment("t0", "a.png"))
    assert history[0] == Message("user", [image("b.png"), image("a.png"), TextPart("q0")])
    assert history[1] == Message("assistant", "a0")


def test_a_file_of_the_assistant_is_in_its_answer_and_one_without_owner_in_the_question():
    history = shown(attachment("t0", "a.png", belongs_to="assistant"), attachment("t0", "old.png", belongs_to=None))
    assert [message.content for message in history] == [
        [image("old.png"), TextPart("q0")],
        [image("a.png"), TextPart("a0")],
    ]


def test_a_missing_file_is_skipped_with_a_warning():
    with capture_logs() as logs:
        history = shown(attachment("t0", "gone.png"), attachment("t0", "a.png"), files=shelf("a.png"))
    assert history[0].content == [image("a.png"), TextPart("q0")]
    assert [(log["event"], log["file"]) for log in logs] == [("history_file_skipped", "at-gone.png")]


def test_without_any_remaining_file_the_content_is_a_plain_text():
    assert shown(attachment("t0", "gone.png"), files=shelf())[0].content == "q0"


def test_a_file_of_another_tenant_counts_as_missing():
    assert shown(attachment("t0", "a.png"), files=shelf("a.png", tenant_id="you"))[0].content == "q0"


def test_a_file_that_cannot_become_a_part_leaves_a_list():
    history = shown(attachment("t0", "a.png"), files=shelf("a.png", sealed=["a.png"]))
    assert history[0].content == [TextPart("q0")]


def test_another_failure_of_the_resolver_drops_only_that_file():
    class Broken:
        def find(self, ref, *, tenant_id):
            raise ValueError("Invalid upload file")

    assert shown(attachment("t0", "a.png"), files=Broken())[0].content == "q0"


def test_a_file_of_no_known_kind_is_named_in_a_text():
    history = shown(attachment("t0", "data.bin", "custom"))
    assert history[0].content == [TextPart("[A file of an unsupported kind: data.bin]"), TextPart("q0")]


def test_parts_that_the_model_does_not_take_are_dropped_before_tokens_are_counted():
    files = attachment("t0", "a.png"), attachment("t0", "song.mp3", "audio")
    assert shown(*files, model=LetterModel({"image"}))[0].content == [image("a.png"), TextPart("q0")]
    text_only = chat(line(1), *files, files=(opened := shelf("a.png", "song.mp3")))
    memory = TokenBufferMemory(text_only, LetterModel(set()))
    assert [message.content for message in memory.get_history_prompt_messages(max_token_limit=4)] == ["q0", "a0"]
    assert opened.opened == []


def test_where_one_file_is_refused_and_another_cannot_be_read_the_text_is_plain():
    files = attachment("t0", "a.png"), attachment("t0", "song.mp3", "audio")
    history = shown(*files, files=shelf("a.png", "song.mp3", sealed=["a.png"]), model=LetterModel({"image"}))
    assert history[0].content == "q0"


def test_a_message_that_was_a_refused_file_alone_is_dropped():
    turns = [turn(0), turn(1, 0, query="")]
    history = shown(attachment("t1", "a.png"), turns=turns, model=LetterModel(set()))
    assert [(message.role, message.content) for message in history] == [
        ("user", "q0"),
        ("assistant", "a0"),
        ("assistant", "a1"),
    ]


def test_a_history_does_not_begin_with_an_answer_whose_question_was_dropped():
    turns = [turn(0, query=""), turn(1, 0)]
    history = shown(attachment("t0", "a.png"), turns=turns, model=LetterModel(set()))
    assert [message.content for message in history] == ["q1", "a1"]


def test_an_answer_that_was_a_file_alone_is_kept():
    turns = [turn(0, answer=""), turn(1, 0)]
    history = shown(attachment("t0", "a.png", belongs_to="assistant"), turns=turns)
    assert history[1].content == [image("a.png"), TextPart("")]


def test_files_are_not_shown_where_the_application_has_upload_switched_off():
    off = {"file_upload": {"image": {"enabled": False}}}
    for features in (off, {}, None, {"file_upload": "yes"}, {"file_upload": {"enabled": False, **IMAGES_ON}}):
        assert shown(attachment("t0", "a.png"), model_config=features)[0].content == "q0"


@pytest.mark.parametrize("mode", ["completion", "chat", "agent-chat"])
def test_chat_applications_say_in_their_own_settings_how_closely_images_are_looked_at(mode):
    assert shown(attachment("t0", "a.png"), mode=mode)[0].content == [image("a.png"), TextPart("q0")]
    plain = {"file_upload": {"enabled": True}}
    history = shown(attachment("t0", "a.png"), mode=mode, model_config=plain)
    assert history[0].content == [image("a.png", "high"), TextPart("q0")]


@pytest.mark.parametrize("mode", ["advanced-chat", "workflow"])
def test_workflow_backed_applications_read_the_switch_of_each_turns_run_and_look_closely(mode):
    turns = [turn(0, workflow_run_id="on"), turn(1, 0, workflow_run_id="off")]
    history = shown(
        attachment("t0", "a.png"),
        attachment("t1", "b.png"),
        turns=turns,
        mode=mode,
        features={"on": IMAGES_ON, "off": {}},
    )
    assert [message.content for message in history[::2]] == [[image("a.png", "high"), TextPart("q0")], "q1"]


@pytest.mark.parametrize("run", ["cleaned up", None])
def test_where_the_run_of_a_turn_is_gone_its_text_is_left_and_a_warning(run):
    with capture_logs() as logs:
        history = shown(attachment("t0", "a.png"), turns=[turn(0, workflow_run_id=run)], mode="advanced-chat")
    assert [message.content for message in history] == ["q0", "a0"]
    assert [(log["log_level"], log["turn"]) for log in logs] == [("warning", "t0")]


def test_another_mode_is_an_error_of_the_program():
    with pytest.raises(ValueError, match="chatty"):
        shown(attachment("t0", "a.png"), mode="chatty")


def test_without_a_resolver_history_is_text():
    memory = TokenBufferMemory(chat(line(1), attachment("t0", "a.png")), LetterModel())
    assert [message.content for message in memory.get_history_prompt_messages()] == ["q0", "a0"]


@pytest.mark.parametrize(
    ("method", "place", "mapping"),
    [
        ("local_file", "upload_file_id", {"upload_file_id": "u"}),
        ("tool_file", "upload_file_id", {"tool_file_id": "u"}),
        ("remote_url", "url", {"url": "u"}),
    ],
)
def test_a_reference_names_the_place_of_its_transfer_method(method, place, mapping):
    row = attachment("t0", "a.png", **{"transfer_method": method, "upload_file_id": None, place: "u"})
    assert file_ref(row).mapping() == {"id": "at-a.png", "type": "image", "transfer_method": method, **mapping}


def test_a_reference_without_an_attachment_row_has_no_id():
    ref = FileRef(type="image", transfer_method="remote_url", url="https://example.org/a.png")
    assert ref.mapping() == {"type": "image", "transfer_method": "remote_url", "url": "https://example.org/a.png"}


@pytest.mark.parametrize(
    ("stored", "extension", "mime_type", "kind"),
    [
        ("image", ".bin", "application/pdf", "image"),
        ("custom", ".PNG", "application/pdf", "image"),
        ("custom", ".xyz", "Video/Quicktime", "video"),
        ("custom", "", "text/x-python", "document"),
        ("custom", ".m4a", "", "audio"),
        ("custom", ".docx", "", "document"),
        ("custom", ".bin", "application/octet-stream", None),
        ("folder", "", "", None),
    ],
)
def test_a_kind_of_media_is_told_by_type_then_extension_then_mime_type(stored, extension, mime_type, kind):
    assert media_type(stored, extension=extension, mime_type=mime_type) == kind


def test_only_chat_applications_read_the_detail():
    assert history_detail(IMAGES_ON, reads_detail=True) == "low"
    assert history_detail(IMAGES_ON, reads_detail=False) == "high"
    unknown = {"file_upload": {"enabled": True, "image": {"detail": "auto"}}}
    assert history_detail(unknown, reads_detail=True) == "high"


def test_upload_settings_of_an_application_are_read():
    upload = {"image": {"enabled": True, "number_limits": 6, "transfer_methods": ["local_file"], "detail": "low"}}
    assert read_file_upload({"file_upload": upload}) == FileUploadConfig(
        image_config=ImageConfig(number_limits=6, transfer_methods=[FileTransferMethod.LOCAL_FILE], detail="low")
    )
    assert read_file_upload({"file_upload": {"image": {"enabled": False, "number_limits": 99}}}) is None
    assert read_file_upload({}) is None


@pytest.mark.parametrize(
    ("image_settings", "named"),
    [({"number_limits": 0}, "number_limits"), ({"number_limits": 7}, "number_limits"), ({"detail": "x"}, "detail")],
)
def test_upload_settings_out_of_bounds_are_named(image_settings, named):
    with pytest.raises(SettingsError, match=rf"file_upload\.image\.{named}"):
        read_file_upload({"file_upload": {"image": {"enabled": True, **image_settings}}})
