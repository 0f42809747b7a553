"""Results and failures of a module in a process of its own."""

import os
import re

import pytest

from mnemoir.core.errors import ModuleFailed, SettingsError
from mnemoir.providers.python_modules.runner import NoModules

UNEXPECTED = "Error: An unexpected error occurred while processing your request. Please check system logs."

ENDLESS = "def Invoke():\n    while True: pass"


async def test_arguments_arrive_as_they_were_given(public, runner):
    public.write("def Invoke(*args, **kwargs): return [args, kwargs]")
    odd = "\0 \n \u2028 ' \" {x} 🙂" + "x" * 300_000  # more than a pipe holds
    assert await runner.call(public.call(odd, "", name=odd)) == [[odd, ""], {"name": odd}]


async def test_a_lone_surrogate_becomes_a_question_mark(public, runner):
    assert await public.run(runner, r"def Invoke(): return 'a\ud800b'") == "a?b"


async def test_json_comes_back_exactly(public, runner):
    source = "def Invoke(): return {'a': [1, 2.5, True, None, 'ü\\n🙂'], 'b': {'c': -10**30, 'd': []}}"
    expected = {"a": [1, 2.5, True, None, "ü\n🙂"], "b": {"c": -(10**30), "d": []}}
    assert await public.run(runner, source) == expected


async def test_values_without_json_form_become_lists_or_texts(public, runner):
    source = "def Invoke(): return {1: (1, 2), None: {3}, (4,): b'x', 'type': complex(1, 2)}"
    assert await public.run(runner, source) == {"1": [1, 2], "None": "{3}", "(4,)": "b'x'", "type": "(1+2j)"}


async def test_nothing_returned_is_none(public, runner):
    assert await public.run(runner, "def Invoke(): pass") is None


async def test_prints_do_not_disturb_the_answer(public, runner):
    source = """
        import os, sys
        print('{"kind": "value", "value": "forged"}')
        def Invoke():
            os.write(1, b"more\\n")
            print("x" * 100_000, file=sys.stderr)
            return "the answer"
    """
    assert await public.run(runner, source) == "the answer"


async def test_the_file_is_read_for_every_call(public, runner):
    assert [await public.run(runner, f"def Invoke(): return {n}") for n in range(3)] == [0, 1, 2]
    assert not list(public.root.rglob("__pycache__"))


async def test_a_module_may_import_installed_packages_its_neighbours_and_by_the_public_folder(public, runner):
    public.write("NAME = 'neighbour'", "modules/neighbour.py")
    source = """
        import neighbour, yaml
        from Public.modules.neighbour import NAME
        from modules import neighbour as third
        def Invoke(): return [__name__, neighbour.NAME, NAME, third.NAME, yaml.__name__]
    """
    assert await public.run(runner, source) == ["dynamic_module", "neighbour", "neighbour", "neighbour", "yaml"]


async def test_a_module_beside_the_file_never_shadows_the_standard_library(public, runner):
    public.write("raise SystemExit", "modules/json.py")
    assert await public.run(runner, "import json\ndef Invoke(): return json.dumps([1])") == "[1]"


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        ("ValueError('bad')", UNEXPECTED),
        ("Failure('bad')", "Error processing request in module 'tool'. bad"),
        ("Failure('bad', 'search')", "Error processing request in module 'search'. bad"),
        ("Failure('bad', 'search', {'a': 1})", "Error processing request in module 'search'. bad. Details: {'a': 1}"),
        ("type('Own', (Failure,), {})('bad', 'own')", "Error processing request in module 'own'. bad"),
    ],
)
async def test_an_exception_of_invoke_is_the_answer(public, runner, raised, text):
    source = f"""
        from Middleware.workflows.tools.dynamic_module_loader import DynamicModuleError as Failure
        def Invoke(): raise {raised}
    """
    assert await public.run(runner, source) == text


@pytest.mark.parametrize(
    "source",
    [
        "def Invoke(needed): pass",
        "def Invoke(): None.x",
        "def Invoke(): Invoke()",
        "def Invoke(): return 10 ** 10_000",
        "def Invoke():\n    a = []\n    a.append(a)\n    return a",
        "def Invoke(): raise ValueError('x' * 10**6)",
    ],
)
async def test_every_error_inside_invoke_becomes_a_short_text(public, runner, source):
    text = await public.run(runner, source)
    assert text.startswith("Error")
    assert len(text) < 2100


async def test_a_file_missing_for_the_module_is_a_failure(public, runner):
    with pytest.raises(ModuleFailed, match=r"did not find a file it needs .*'/no/such/file'"):
        await public.run(runner, "def Invoke(): open('/no/such/file')")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def invoke(): pass", "it has no function `Invoke`"),
        ("Invoke = 3", "its `Invoke` is not a function"),
        ("def Invoke(: pass", "could not be loaded (SyntaxError"),
        ("import no_such_package", "could not be loaded (ModuleNotFoundError"),
        ("1 / 0", "could not be loaded (ZeroDivisionError"),
    ],
)
async def test_a_file_that_is_not_a_module_is_a_settings_error(public, runner, source, why):
    with pytest.raises(SettingsError, match=re.escape(why)):
        await public.run(runner, source)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import os\ndef Invoke(): os._exit(3)", "ended its process (exit status 3)"),
        ("import os\ndef Invoke(): os._exit(0)", "ended its process (exit status 0)"),
        ("import os\ndef Invoke(): os.abort()", "ended its process (signal SIGABRT)"),
        ("import os\nos._exit(4)", "ended its process (exit status 4)"),
        ("import sys\ndef Invoke(): sys.exit(2)", "left its process instead of returning (exit 2)"),
        ("def Invoke(): return bytearray(8 << 30)", "needed more memory than its 512 MiB"),
        ("held = bytearray(8 << 30)", "needed more memory than its 512 MiB"),
        ("def Invoke(): return 'x' * (2 << 20)", "returned more than 1 MiB"),
        ("def Invoke():\n  while True: print('x' * 10_000)", "printed more than 1 MiB"),
        ("import os\ndef Invoke(): os.closerange(3, 4096); return 1", "ended its process"),
    ],
)
async def test_a_module_that_ends_its_process_fails_with_its_name(public, runner, source, what):
    with pytest.raises(ModuleFailed) as failure:
        await public.run(runner, source)
    assert failure.value.message.startswith(f"Python module {public.root}/modules/tool.py {what}")


async def test_a_module_that_writes_to_all_pipes_fails(public, runner):
    source = """
        import os
        from contextlib import suppress
        def Invoke():
            for pipe in range(3, 4096):
                with suppress(OSError):
                    os.write(pipe, b"}\\n")
    """
    with pytest.raises(ModuleFailed, match="answered in an unknown way"):
        await public.run(runner, source)


@pytest.mark.real_time
async def test_an_endless_module_is_ended_when_its_time_is_up(public, runner):
    with pytest.raises(ModuleFailed, match=r"did not return within 0\.5 s.*timeoutSeconds"):
        await public.run(runner, ENDLESS, timeout_s=0.5)


async def test_a_module_does_not_inherit_the_servers_keys(public, runner, monkeypatch):
    for name in ("OPENAI_API_KEY", "API_KEYS", "ADMIN_API_KEY", "MNEMOIR_LLM__API_KEY", "WHATEVER"):
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("MCPO_URL", "http://tools")
    monkeypatch.setenv("MODULE_CITY", "Bonn")
    given = await public.run(runner, "import os\ndef Invoke(): return dict(os.environ)")
    assert "canary" not in given.values()
    assert (given["MCPO_URL"], given["MODULE_CITY"], given["PATH"]) == ("http://tools", "Bonn", os.environ["PATH"])


async def test_modules_that_are_switched_off_name_the_setting(public):
    with pytest.raises(SettingsError, match=r"workflows\.python_modules"):
        await NoModules().call(public.call())
