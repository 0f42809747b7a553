"""The compatibility package, which modules import by the names of their format."""

import pytest


@pytest.fixture
def ask(public, runner):
    """Evaluate an expression in a module that has imported everything there is."""

    async def ask(expression):
        return await public.run(
            runner,
            f"""
            from Middleware.common.constants import VALID_NODE_TYPES
            from Middleware.utilities import automation_utils, text_utils
            from Middleware.utilities.config_utils import *
            from Middleware.workflows.tools import dynamic_module_loader
            from Middleware.workflows.tools.mcp_client_tool import MCPClient, MCPToolCallError
            def Invoke(): return {expression}
            """,
        )

    return ask


async def test_the_users_file_is_found_by_the_name_in_lower_case(public, ask):
    public.write_config("Users/some-one.json", {"port": 5006, "odd": [1]})
    assert await ask("[get_current_username(), get_user_config()]") == ["Some-One", {"port": 5006, "odd": [1]}]
    assert await ask("[get_config_value('odd'), get_config_value('no')]") == [[1], None]


async def test_an_endpoint_is_found_in_the_users_folder_without_regard_to_case(public, ask):
    public.write_config("Users/some-one.json", {"endpointConfigsSubDirectory": "Mine"})
    public.write_config("endpoints/mine/Image-Endpoint.json", {"endpoint": "http://x"})
    assert await ask("get_endpoint_config('image-endpoint')") == {"endpoint": "http://x"}
    assert await ask("get_endpoint_config('Image-Endpoint.json')") == {"endpoint": "http://x"}


async def test_paths_are_those_of_the_tree_whether_there_is_a_file_or_not(public, ask):
    root = str(public.root / "Configs")
    assert await ask("get_root_config_directory()") == root
    assert await ask("get_config_path('A/b', 'c')") == f"{root}/A/b/c.json"
    assert await ask("get_default_tool_prompt_path()") == f"{root}/default_tool_prompt.txt"


@pytest.mark.parametrize("name", ["../Users/some-one", "/etc/passwd", "a/../../b"])
async def test_paths_outside_the_tree_are_refused(ask, name):
    assert "is outside the config tree" in await ask(f"get_config_path('Endpoints', {name!r})")


async def test_files_may_begin_with_a_byte_order_mark(public, ask):
    file = public.write("\ufeff{}", "Configs/Routing/x.json")
    assert await ask(f"load_config({str(file)!r})") == {}


async def test_both_places_have_the_same_failure(ask):
    assert await ask("automation_utils.DynamicModuleError is dynamic_module_loader.DynamicModuleError") is True


async def test_node_types_are_a_list_of_names(ask):
    assert {"Standard", "PythonModule", "chatSummarySummarizer"} <= set(await ask("VALID_NODE_TYPES"))


async def test_a_module_gets_a_logger_by_its_name(public, runner):
    source = """
        import logging
        from Middleware.utilities.sensitive_logging_utils import get_sensitive_logger
        logger = get_sensitive_logger("tools")
        def Invoke():
            logger.info("called")
            return logger is logging.getLogger("tools")
    """
    assert await public.run(runner, source) is True


async def test_texts_of_people_are_logged_by_modules_at_debug_only(public, runner):
    source = """
        import logging
        from Middleware.utilities.sensitive_logging_utils import *
        class Kept(logging.Handler):
            def emit(self, record): lines.append([record.levelname, record.getMessage()])
        lines = []
        def Invoke():
            logger = get_sensitive_logger("private")
            logger.addHandler(Kept())
            logger.propagate = False
            for level in (logging.INFO, logging.DEBUG):
                logger.setLevel(level)
                sensitive_log(logger, logging.ERROR, "%s asks", "Ann")
                sensitive_log_lazy(logger, logging.INFO, "%s answers", lambda: "Bob")
                log_prompt_content(logger, "Prompt", "hello")
            return [is_encryption_active(), *lines]
    """
    lines = [["DEBUG", "Ann asks"], ["DEBUG", "Bob answers"], ["DEBUG", "Prompt: hello"]]
    assert await public.run(runner, source) == [False, *lines]


async def test_braces_stay_as_typed(ask):
    assert await ask("text_utils.return_brackets_in_string('{a} |{{| b')") == "{a} |{{| b"


async def test_the_mcp_client_placeholder_names_the_alternative(ask):
    assert "put MCPO in front of the server" in await ask("MCPClient('http://x')")


async def test_other_threads_of_the_module_read_the_configuration_too(public, runner):
    source = """
        from concurrent.futures import ThreadPoolExecutor
        from Middleware.utilities.config_utils import get_current_username
        def Invoke():
            with ThreadPoolExecutor() as threads:
                return threads.submit(get_current_username).result()
    """
    assert await public.run(runner, source) == "Some-One"
