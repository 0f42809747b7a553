"""Variables: their sources, and the precedence of sources."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from mnemoir.core.messages import text_message
from mnemoir.workflows.text.filling import fill
from mnemoir.workflows.text.variables import KNOWN, Surroundings, Variables, is_known

NOW = datetime(2025, 8, 7, 20, 48, tzinfo=timezone(timedelta(hours=2)))


def variables(**given):
    members: dict[str, Any] = {"messages": [text_message("user", "hi")], "now": NOW} | given
    return Variables(Surroundings(**members))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("todays_date_pretty", "August 07, 2025"),
        ("todays_date_iso", "2025-08-07"),
        ("YYYY_MM_DD", "2025_08_07"),
        ("current_time_12h", "8:48 PM"),
        ("current_time_24h", "20:48"),
        ("current_month_full", "August"),
        ("current_day_of_week", "Thursday"),
        ("current_day_of_month", "07"),
    ],
)
def test_times_are_in_the_servers_zone(name, value):
    assert variables()[name] == value


def test_midnight_is_twelve():
    assert variables(now=datetime(2025, 1, 1, 0, 5, tzinfo=UTC))["current_time_12h"] == "12:05 AM"


def test_the_discussion_and_its_times_are_empty_without_one():
    assert fill("[{Discussion_Id}{time_context_summary}]", variables()) == "[]"
    found = variables(discussion="d1", time_context="[Time Context: …]")
    assert fill("{Discussion_Id} {time_context_summary}", found) == "d1 [Time Context: …]"


def test_inputs_and_outputs_are_numbered_from_one():
    found = variables(inputs=["in", 2], outputs={1: {"a": None}, 3: ""})
    text = "{agent1Input} {agent2Input} {agent1Output} {agent1Output.a} <{agent3Output}> {agent2Output}"
    assert fill(text, found) == "in 2 {'a': None} None <> {agent2Output}"


def test_of_two_sources_the_one_of_higher_rank_wins():
    names = ("mine", "todays_date_iso", "Discussion_Id", "chat_system_prompt", "agent1Input", "messages")
    found = variables(
        user_wide=dict.fromkeys((*names, "wide", "lastUserMessage"), "user-wide"),
        custom=dict.fromkeys((*names, "category_list"), "custom"),
        inputs=["input"],
        categories={"category_list": ["A"], "messages": "no"},
    )
    assert [found[name] for name in (*names, "wide", "category_list", "lastUserMessage")] == [
        "custom",
        "custom",
        "",
        "",
        "input",
        [{"role": "user", "content": "hi"}],
        "user-wide",
        ["A"],
        "user-wide",
    ]


def test_without_messages_conversation_variables_are_empty_and_unknown_names_stay():
    text = "{chat_user_prompt_last_one}{chat_system_prompt}{client_instructions}{templated_user_prompt_n_messages}"
    assert fill(text + "{messages} {nope}", variables(messages=[])) == "[] {nope}"


def test_variables_of_a_file_may_name_others():
    found = variables(
        discussion="d1",
        custom={"path": "{folder}/{Discussion_Id}.txt", "folder": "{base}/x", "n": 3},
        user_wide={"base": "/data"},
    )
    assert fill("{path} {n}", found) == "/data/x/d1.txt 3"


def test_text_of_users_and_models_is_not_read_for_variables():
    said = "{secret} {{7*7}} {agent1Output}"
    found = variables(
        messages=[text_message("user", said)],
        inputs=[said],
        outputs={1: said},
        custom={"secret": "s", "all": "{chat_user_prompt_last_one}|{agent1Input}|{agent1Output}"},
    )
    assert fill("{all}", found) == f"{said}|{said}|{said}"


def test_a_circle_of_variables_ends_where_it_closes():
    found = variables(custom={"a": "x {b}", "b": "y {a}", "self": "{self}!"})
    assert fill("{a} / {self}", found) == "x y {a} / {self}!"


def test_a_long_chain_of_variables_ends():
    chain = {f"v{i}": f"{{v{i + 1}}}" for i in range(5000)}
    assert fill("{v0}", variables(custom=chain)) == "{v17}"


def test_variables_that_multiply_stop_growing():
    growing = {f"v{i}": f"{{v{i + 1}}}" * 100 for i in range(5)} | {"v5": "boom" * 100}
    assert len(str(variables(custom=growing)["v0"])) < 17_000_000


def test_a_variable_is_computed_once_and_only_when_read():
    found = variables(messages=[text_message("user", "hi")])
    assert found["messages"] is found["messages"]
    assert "messages" in found
    assert "agent1Output" not in found


def test_names_of_nodes_are_made_of_inputs_and_the_workflows_own_variables():
    early = variables(
        inputs=["Fast"],
        outputs={1: "late"},
        custom={"endpoint": "{agent1Input}-{kind}-{agent1Output}-{todays_date_iso}"},
        user_wide={"kind": "local"},
    ).early()
    assert fill("{endpoint} {agent1Output}", early) == "Fast-local-{agent1Output}-{todays_date_iso} {agent1Output}"


def test_all_variables_of_this_module_are_known_by_name():
    assert set(variables()) <= KNOWN
    assert is_known("agent1Input")
    assert is_known("agent12Output")
    assert is_known("category_list")
    assert not any(map(is_known, ("agent0Input", "agentInput", "agent01Output", "nope", "")))
