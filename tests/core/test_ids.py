"""Ids: their form, and that no two are the same, in threads and in forked processes."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemoir.core.ids import new_job_id, new_memory_id, new_request_id, new_run_id

FORMS = {
    new_memory_id: r"mem_[0-9a-f]{32}",
    new_job_id: r"evt_[0-9a-f]{32}",
    new_request_id: r"[0-9a-f]{16}",
    new_run_id: r"run_[0-9a-f]{32}",
}


@pytest.mark.parametrize("new_id", FORMS, ids=lambda new_id: new_id.__name__)
def test_an_id_has_its_form(new_id):
    assert re.fullmatch(FORMS[new_id], new_id())


def test_no_two_ids_are_the_same_in_several_threads():
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: new_run_id(), range(5000)))
    assert len(set(made)) == len(made)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_makes_ids_of_its_own():
    new_run_id()  # some randomness has been drawn and is left
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, new_run_id().encode())
        os._exit(0)
    own = new_run_id()
    os.waitpid(child, 0)
    assert os.read(reader, 100).decode() not in ("", own)
    os.close(reader)
    os.close(writer)
