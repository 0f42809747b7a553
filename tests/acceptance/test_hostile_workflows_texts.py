"""Text that wants to be a template, templates that want to be programs, and patterns that are none."""

import pytest

from tests.acceptance.hostile_trees import QUICK_S, asking, hosted

SIGNS = (
    "{messages.__class__} {messages[0]} {{ 7*7 }} {% for i in x %}{% endfor %} {agent1Output} {agent1Input} {0} {} "
    "{today_date} {Discussion_Id} {secret} %s %(a)s ${x} $(id) `id` \\n }} {{ } { [TextChunk] [IMAGE_BLOCK] <U> {# #}"
)
LAST = "{chat_user_prompt_last_one}"
JINJA = "{{ chat_user_prompt_last_one }}"
CHILD = [asking("A {agent1Input} B")]


@pytest.fixture
async def host(tmp_path):
    async with hosted(tmp_path) as served:
        yield served


def child(**said: object) -> dict:
    return {"type": "CustomWorkflow", "title": "child", "workflowName": "Child", **said}


def first(kind: str, **said: object) -> dict:
    return {"type": kind, "title": "first", **said}


WAYS = [
    (asking(),),
    (asking(LAST),),
    (asking("", systemPrompt=LAST),),
    (asking(JINJA, jinja2=True),),
    (asking("{% for m in messages %}{{ m.content }}{% endfor %}", jinja2=True),),
    (asking("{{ '%s' | format(chat_user_prompt_last_one) }}", jinja2=True),),
    (asking("{mine}"),),
    (asking(LAST, endpointName="Text"),),
    (first("StaticResponse", content=LAST), asking("{agent1Output}")),
    (first("StringConcatenator", strings=[LAST, "{nobody}"], delimiter="|"), asking("{agent1Output}")),
    (first("StaticResponse", content=LAST), asking("{{ agent1Output }}", jinja2=True)),
    (child(scoped_variables=[LAST]),),
    (child(scoped_variables=[JINJA], jinja2=True),),
    (child(firstNodePromptOverride=f"{LAST} {{agent1Input}}", scoped_variables=["."]),),
    (child(firstNodePromptOverride=JINJA, jinja2=True),),
    (child(firstNodeSystemPromptOverride=LAST, firstNodePromptOverride="."),),
    (
        first("StaticResponse", content="Yes"),
        first(
            "ConditionalCustomWorkflow",
            conditionalKey="{agent1Output}",
            conditionalWorkflows={"yes": "Child"},
            routeOverrides={"Yes": {"promptOverride": LAST}},
        ),
    ),
    (
        first(
            "ConditionalCustomWorkflow",
            conditionalKey=LAST,
            conditionalWorkflows={"other": "Child"},
            UseDefaultContentInsteadOfWorkflow=LAST,
        ),
        asking("{agent1Output}"),
    ),
    (
        first("SaveCustomFile", filepath="said.txt", content=LAST),
        first("GetCustomFile", filepath="said.txt", delimiter="\n", customReturnDelimiter="\n"),
        asking("{agent2Output}"),
    ),
]


async def test_what_is_said_arrives_unchanged_by_whatever_way_a_workflow_takes(host):
    host.workflow(*CHILD, name="Child")
    for nodes in WAYS:
        host.llm.requests.clear()
        assert (await host.run(*nodes, said=SIGNS, mine=LAST, secret="canary"))[0] == 200, nodes
        sent = host.llm.requests[-1].body
        texts = [*(message["content"] for message in sent.get("messages", [])), sent.get("prompt", "")]
        assert [text for text in texts if SIGNS in text], nodes
        assert "canary" not in host.llm.requests[-1].prompt, nodes


async def test_what_a_model_says_is_data_in_the_next_prompt_and_in_the_answer(host):
    host.llm.reply(SIGNS)
    await host.run(asking(), asking("<{agent1Output}>", returnToUser=False))
    assert host.prompt() == f"<{SIGNS}>"
    host.llm.reply(SIGNS)
    assert await host.run(asking(), first("StaticResponse", content="{agent1Output}")) == (200, SIGNS)


async def test_a_condition_made_of_signs_is_compared_as_text(host):
    node = first("Conditional", condition=f"'{LAST}' == 'x' OR TRUE == FALSE")
    assert await host.run(node, said="' == '' OR '1' == '1") == (200, "FALSE")


HOSTILE = {
    "{{ ''.__class__.__mro__ }}": "__class__",
    "{{ cycler.__init__.__globals__ }}": "__init__",
    "{{ messages | map(attribute='__class__') | list }}": "__class__",
    "{% for i in range(10**9) %}x{% endfor %}": "Range too big",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}": "it takes more than",
    "{{ 'a' * 10**9 }}": "too large",
    "{% include '/etc/passwd' %}": "include",
    "{{ a }}" * 5000: "more than 4000 names and signs",
}


@pytest.mark.real_time
async def test_a_template_that_is_a_program_is_refused_by_node_and_workflow_and_holds_up_nobody(host):
    for template, why in HOSTILE.items():
        (status, told), longest_s = await host.beside(asking(template, jinja2=True))
        assert (status, "Node 'ask' of workflow Main" in told, why in told) == (500, True, True), told
        assert longest_s < QUICK_S
    assert host.llm.requests == []


BUSY = "{% for i in range(4000) %}{{ i }}{% endfor %}"  # some milliseconds, and nothing forbidden


@pytest.mark.real_time
async def test_many_templates_of_one_node_have_one_limit(host):
    node = first("StringConcatenator", strings=[BUSY] * 2000, jinja2=True)
    (status, told), longest_s = await host.beside(node)
    assert (status, "The Jinja2 templates of one node take more than" in told) == (500, True)
    assert longest_s < QUICK_S


@pytest.mark.slow
@pytest.mark.real_time
async def test_many_busy_nodes_let_everybody_else_in_between(host):
    nodes = [first("StaticResponse", content=BUSY, jinja2=True, returnToUser=False) for _ in range(200)]
    (status, _), longest_s = await host.beside(*nodes)
    assert status == 200
    assert longest_s < QUICK_S


PATTERN = "(a+)+$"


@pytest.mark.real_time
async def test_what_looks_like_a_pattern_in_an_endpoint_or_a_node_is_literal(host):
    endpoint = {"endpoint": host.llm.url, "apiTypeConfigFileName": "Chat"}
    think = {"removeThinking": True, "startThinkTag": PATTERN, "endThinkTag": "(.*)*!"}
    start = {
        "removeCustomTextFromResponseStartEndpointWide": True,
        "responseStartTextToRemoveEndpointWide": [PATTERN, "^.*$"],
    }
    host.write("Endpoints/Main.json", endpoint | think | start)
    long = "a" * 50_000 + "!"
    host.llm.reply(long)
    host.llm.reply(f"{PATTERN}thoughts(.*)*!{PATTERN}answer")
    node = asking("", removeCustomTextFromResponseStart=True, responseStartTextToRemove=["(a|aa)+$"])
    (status, told), longest_s = await host.beside(node)
    assert (status, told == long, longest_s < QUICK_S) == (200, True, True)
    assert await host.ask() == (200, "answer")


@pytest.mark.real_time
@pytest.mark.parametrize(("kind", "key"), [("Conditional", "condition"), ("ArithmeticProcessor", "expression")])
async def test_a_long_text_takes_no_time_where_it_is_read_by_a_grammar(host, kind, key):
    for text in ("a" * 50_000 + "!", "(" * 50_000, "'" * 50_000, "1" * 50_000 + "+", "1 == 1 AND " * 5_000):
        (status, told), longest_s = await host.beside(first(kind, **{key: LAST}), said=text)
        assert (status, told in ("TRUE", "FALSE", "-1"), longest_s < QUICK_S) == (200, True, True), text[:20]
