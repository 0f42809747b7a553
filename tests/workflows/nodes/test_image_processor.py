"""ImageProcessor: pictures described one by one."""

import pytest

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import ImagePart, TextPart, text_message
from mnemoir.workflows.nodes.image_processor import ImageProcessor
from tests.workflows.nodes.pictures import image, jpeg, png, shown

CAT, DOG = image(png(1, 1)), image(jpeg(2, 3), "image/jpeg")


@pytest.fixture
def seeing(bench, llm):
    bench.endpoint("vision", llm.url)
    bench.messages = [text_message("system", "Be kind."), shown("Look.", CAT), text_message("assistant", "Nice.")]
    return {"endpointName": "vision", "prompt": "What is this?", "systemPrompt": "You see."}


async def test_without_pictures_it_returns_a_sentence_and_asks_no_model(bench, llm, seeing):
    bench.messages = [text_message("user", "Look.")]
    assert await bench.run(ImageProcessor, **seeing, addAsUserMessage=True) == (
        "There were no images attached to the message"
    )
    assert (llm.requests, len(bench.step.run.turn.messages)) == ([], 1)


async def test_each_picture_is_described_by_a_separate_call(bench, llm, seeing):
    bench.messages.append(shown("And this?", DOG))
    llm.reply("A cat.")
    llm.reply("A dog.")
    assert await bench.run(ImageProcessor, **seeing) == "A cat.\n-------------\nA dog."
    sent = [request.body["messages"] for request in llm.requests]
    assert sent == [
        [
            {"role": "system", "content": "You see."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": picture.url}},
                ],
            },
        ]
        for picture in (CAT, DOG)
    ]
    assert not any(request.body.get("stream") for request in llm.requests)


async def test_an_empty_answer_is_left_out(bench, llm, seeing):
    bench.messages.append(shown("And this?", DOG))
    llm.reply("")
    llm.reply("A dog.")
    assert await bench.run(ImageProcessor, **seeing) == "A dog."


async def test_without_any_description_the_conversation_is_not_changed(bench, llm, seeing):
    llm.reply("")
    assert await bench.run(ImageProcessor, **seeing, addAsUserMessage=True) == ""
    assert len(bench.step.run.turn.messages) == 3


async def test_without_a_prompt_the_conversation_is_sent_with_the_one_picture(bench, llm, seeing):
    bench.messages = [shown("", DOG), text_message("assistant", "Nice."), shown("", CAT)]
    llm.reply("A dog.")
    llm.reply("A cat.")
    await bench.run(ImageProcessor, **{**seeing, "prompt": ""})
    picture = {"type": "image_url", "image_url": {"url": CAT.url}}
    assert llm.requests[1].body["messages"][1:] == [
        {"role": "assistant", "content": "Nice."},
        {"role": "user", "content": [picture]},
    ]


async def test_the_descriptions_go_before_the_last_message(bench, llm, seeing):
    llm.reply("A cat, {agent1Output} [IMAGE_BLOCK].")
    bench.outputs = {1: "seen"}
    said = {"addAsUserMessage": True, "message": "{agent1Output}: [IMAGE_BLOCK]"}
    await bench.run(ImageProcessor, **seeing, **said)
    assert [message.text for message in bench.step.run.turn.messages] == [
        "Be kind.",
        "Look.",
        "seen: A cat, {agent1Output} [IMAGE_BLOCK].",
        "Nice.",
    ]
    assert bench.step.run.turn.messages[2].role == "user"


async def test_the_descriptions_go_behind_a_single_message(bench, llm, seeing):
    bench.messages = [shown("Look.", CAT)]
    llm.reply("A cat.")
    await bench.run(ImageProcessor, **seeing, addAsUserMessage=True)
    assert bench.step.run.turn.messages[0].text == "Look."
    assert "<vision_llm_response>\nA cat.\n</vision_llm_response>" in bench.step.run.turn.messages[1].text


async def test_a_refused_picture_ends_the_node_before_any_call(bench, llm, seeing):
    bench.messages.append(shown("And this?", ImagePart(url="file:///etc/passwd")))
    with pytest.raises(InvalidRequest, match="Picture 2 of the conversation"):
        await bench.run(ImageProcessor, **seeing)
    assert llm.requests == []


async def test_of_many_pictures_the_newest_are_described(bench, llm, seeing):
    bench.messages = [shown("Old.", *[CAT] * 5), shown("New.", *[DOG] * 20)]
    await bench.run(ImageProcessor, **seeing)
    sent = [request.body["messages"][1]["content"][1]["image_url"]["url"] for request in llm.requests]
    assert sent == [DOG.url] * 20
    assert "5 of 25 pictures were left out" in bench.step.trace.notes[0]


async def test_the_words_of_the_conversation_stay_with_its_messages(bench, llm, seeing):
    await bench.run(ImageProcessor, **seeing)
    assert bench.step.run.turn.messages[1].parts == (TextPart(text="Look."), CAT)
