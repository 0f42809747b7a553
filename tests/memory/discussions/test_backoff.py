"""A chunk whose answers cannot be used is asked about again, but less and less often."""

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import ProviderInvalidOutput, ProviderUnavailable
from mnemoir.core.messages import text_message
from mnemoir.memory.discussions.chunk_summaries import make_chunk_summaries
from mnemoir.memory.discussions.parts import Backoff, ChunkPolicy, Written

TALK = [text_message("user", f"This is message {number} of the talk.") for number in range(8)]
POLICY = ChunkPolicy(target_tokens=20, most_messages=2, lookback=2)


class Model:
    """Fails as it is told to, and counts how often it was asked."""

    def __init__(self, failure):
        self.failure = failure
        self.asked = 0

    async def __call__(self, inputs):
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return Written(text="A summary.", by="Main")


async def make(memory, tmp_path, model, policy=POLICY):
    discussion = Discussion(root=tmp_path, id="d1")
    return await make_chunk_summaries(memory, discussion, TALK, policy, [model], reads_earlier=True)


def test_the_second_try_comes_at_once_and_the_others_later_and_later():
    backoff, tries = Backoff(), []
    for making in range(60):
        if not backoff.passes_over("d1"):
            tries.append(making)
            backoff.note_failure("d1")
    assert tries == [0, 1, 3, 7, 15, 31, 47]


async def test_a_model_whose_answers_cannot_be_used_is_asked_less_often(memory, tmp_path):
    model = Model(ProviderInvalidOutput("It makes no sense."))
    made = [await make(memory, tmp_path, model) for _ in range(16)]
    assert model.asked == 5
    assert all(one.left and one.notes for one in made)
    assert "no model was asked" in made[2].notes[0]


async def test_a_model_that_cannot_be_reached_is_asked_each_time(memory, tmp_path):
    model = Model(ProviderUnavailable("It is down."))
    for _ in range(6):
        await make(memory, tmp_path, model)
    assert model.asked == 6


async def test_after_a_good_answer_all_is_as_before(memory, tmp_path):
    model = Model(ProviderInvalidOutput("It makes no sense."))
    for _ in range(3):
        await make(memory, tmp_path, model)
    model.failure = None
    made = await make(memory, tmp_path, model)
    assert (made.left, made.is_unusable) == (0, False)


async def test_who_asks_for_all_is_not_kept_waiting(memory, tmp_path):
    model = Model(ProviderInvalidOutput("It makes no sense."))
    everything = ChunkPolicy(target_tokens=20, takes_all=True)
    for _ in range(4):
        await make(memory, tmp_path, model, everything)
    assert model.asked == 4
