"""Turns written out by a prompt template."""

from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from mnemoir.workflows.config.endpoint import PromptTemplate
from mnemoir.workflows.prompting.assembly import assistant_start, formatted_turns, turn, without_markers

CHATML = PromptTemplate.model_validate(
    {
        "promptTemplateUserPrefix": "<u>",
        "promptTemplateUserSuffix": "</u>",
        "promptTemplateAssistantPrefix": "<a>",
        "promptTemplateAssistantSuffix": "</a>",
        "promptTemplateSystemmesPrefix": "<s>",
        "promptTemplateSystemmesSuffix": "</s>",
        "promptTemplateEndToken": "!",
    }
)
MARKED = PromptTemplate.model_validate(
    {"promptTemplateUserPrefix": "[Beg_User]", "promptTemplateAssistantPrefix": "[Beg_Assistant]"}
)


def test_each_turn_stands_between_the_prefix_and_the_suffix_of_its_role():
    turns = [text_message("assistant", "A"), text_message("systemMes", "S"), text_message("user", "U")]
    assert formatted_turns(turns, CHATML) == "<a>A</a><s>S</s><u>U</u>"


def test_a_turn_of_the_assistant_at_the_end_is_left_open():
    assert formatted_turns([text_message("user", "U"), text_message("assistant", "A")], CHATML) == "<u>U</u><a>A"


def test_a_turn_of_the_user_at_the_end_is_closed():
    assert formatted_turns([text_message("user", "U")], CHATML) == "<u>U</u>"


def test_a_role_without_a_place_in_the_template_is_its_text():
    assert turn("tool", "22 degrees", CHATML) == "22 degrees"


def test_no_messages_are_no_text():
    assert formatted_turns([], CHATML) == ""


def test_pictures_are_not_written_out():
    shown = Message(role="user", parts=(TextPart(text="Look"), ImagePart(url="https://a.example/b.png")))
    assert formatted_turns([shown], CHATML) == "<u>Look</u>"


def test_markers_are_taken_out_of_texts_and_of_the_template_itself():
    turns = [text_message("user", "one [Beg_Sys]two"), text_message("assistant", "[Beg_SysMes]three")]
    assert formatted_turns(turns, MARKED) == "one twothree"
    assert assistant_start(MARKED) == ""


def test_text_that_only_resembles_a_marker_stays():
    assert without_markers("[Beg_Tool] [beg_user] [Beg_User") == "[Beg_Tool] [beg_user] [Beg_User"


def test_the_generation_prompt_is_the_assistants_prefix_and_the_end_token():
    assert assistant_start(CHATML) == "<a>!"
