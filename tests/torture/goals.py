"""The goals of reliability and security, each with the tests that show it; `python -m tests.torture` runs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """One goal: what is promised, and the tests (files, or parts of them) that attack it."""

    name: str
    promise: str
    tests: tuple[str, ...]


T = "tests/torture"
GOALS = (
    Goal("R1", "100 writers at once: nothing lost, ids unique and gap-free; a foreign writer too",
         (f"{T}/test_writers.py::test_writers_lose_nothing", f"{T}/test_writers.py::test_writers_are_fast_enough",
          f"{T}/test_writers.py::test_without_the_lock_ids_repeat",
          f"{T}/test_writers.py::test_a_program_without_our_lock",
          "tests/cases/test_cases.py::test_s02_at_full_size")),
    Goal("R2", "500 kills at each of three sizes: nothing acknowledged is lost",
         (f"{T}/test_writers.py::test_killed_writers_lose_nothing_acknowledged",
          f"{T}/test_writers.py::test_killed_writers_without_the_newline_guard",
          f"{T}/test_writers.py::test_torn_records_cost_themselves_only")),
    Goal("R3", "death at every call that changes a disk: all earlier memories readable, the next command works",
         (f"{T}/test_syscalls.py::test_death_at_every_call",
          f"{T}/test_syscalls.py::test_death_where_files_are_replaced_in_place",
          "tests/test_night.py::test_killed_anywhere_and_run_again")),
    Goal("R4", "an error or a short count at every write, sync and rename: one clear line, the ledger old or whole",
         (f"{T}/test_syscalls.py::test_an_error_at_every_call", f"{T}/test_syscalls.py::test_short_writes",
          f"{T}/test_syscalls.py::test_short_writes_without_guards", f"{T}/test_syscalls.py::test_json_of_a_refusal")),
    Goal("R5", "a full disk: no file shorter or empty",
         (f"{T}/test_together.py::test_a_full_disk",
          f"{T}/test_together.py::test_a_full_disk_where_files_are_replaced_in_place",
          "tests/cases/test_bad_input.py::test_full_disk_cuts_back_to_what_was")),
    Goal("R6", "power loss at any point: every synced record is there, readers never raise", (f"{T}/test_power.py",)),
    Goal("R7", "10,000 damaged ledgers: every untouched line returned, bad lines counted to the one",
         (f"{T}/test_damage.py::test_damaged_ledgers", f"{T}/test_damage.py::test_damaged_ledgers_read_as_text",
          f"{T}/test_damage.py::test_a_huge_line")),
    Goal("R8", "repair keeps every byte; twice is once",
         (f"{T}/test_damage.py::test_repair_of_damaged_ledgers", "tests/test_repair.py")),
    Goal("R9", "recalls at once all count; of nights at once one works",
         (f"{T}/test_together.py::test_recalls_at_once_all_count", f"{T}/test_together.py::test_nights_at_once",
          f"{T}/test_together.py::test_recalls_at_once_by_a_counter",
          "tests/test_night.py::test_two_at_once_are_as_one")),
    Goal("R10", "an index deleted, cut, noisy or killed in mid-build: the same answers",
         (f"{T}/test_damage.py::test_a_damaged_index_answers_the_same",
          f"{T}/test_damage.py::test_killed_while_building",
          f"{T}/test_damage.py::test_a_damaged_index_that_nobody_checks",
          "tests/index/test_index.py::test_damaged_cache_is_built_again")),
    Goal("R11", "a read-only folder: reading works, add is refused at once with the path",
         (f"{T}/test_together.py::test_a_folder_that_can_only_be_read",
          "tests/cases/test_bad_input.py::test_read_only_folder")),
    Goal("R12", "a stopped lock holder: 75 after the time-out; a killed one: free in 100 ms",
         (f"{T}/test_together.py::test_a_lock_whose_holder_has_stopped",)),
    Goal("R13", "folders of the first version open unchanged, unknown fields survive",
         (f"{T}/test_times.py::test_a_folder_of_the_first_version",
          f"{T}/test_times.py::test_a_writer_that_rewrites_would_be_seen", "tests/test_transfer.py")),
    Goal("R14", "clocks back, summer time, year 1, 1970, 9999: no exception",
         (f"{T}/test_times.py::test_clocks", f"{T}/test_times.py::test_ages_below_nothing")),
    Goal("S1", "every route of the panel refuses strangers", ("tests/panel/test_panel.py::TestGuard",)),
    Goal("S2", "the panel listens on loopback only",
         ("tests/panel/test_panel.py::TestProcess::test_it_listens_on_loopback_only_and_ends_when_interrupted",)),
    Goal("S3", "no stored text runs on a page, nothing leaves it",
         ("tests/starmap/test_page.py", "tests/starmap/test_browser.py",
          "tests/panel/test_panel.py::test_in_a_browser", f"{T}/test_strangers.py::test_payloads_on_the_map")),
    Goal("S4", "no control character in what people are shown",
         (f"{T}/test_strangers.py::test_no_text_steers_a_terminal",
          "tests/cli/test_commands.py::test_stored_text_steers_no_terminal")),
    Goal("S5", "any text in a context block stays data",
         ("tests/subject/test_context.py::test_any_text_is_data", "tests/test_context.py")),
    Goal("S6", "a subject's search opens no file of another", ("tests/subject/test_walls.py",)),
    Goal("S7", "an id is a direct child of `subjects/` or refused",
         (f"{T}/test_strangers.py::test_ids", "tests/subject/test_ids.py",
          "tests/cases/test_subject_cases.py::test_s13_an_id_that_walks_out_of_its_folder")),
    Goal("S8", "a key appears nowhere but in its own file",
         (f"{T}/test_strangers.py::test_the_key_is_in_its_file_alone", "tests/test_endpoint.py",
          "tests/encoder/test_remote.py::TestKey")),
    Goal("S9", "redirects, slow, endless and huge answers: bounded, the key not forwarded",
         ("tests/encoder/test_remote.py", "tests/mood/test_sources.py::TestHttp",
          "tests/test_endpoint.py::TestProject")),
    Goal("S10", "whatever the umask, folders 0700 and files 0600",
         (f"{T}/test_strangers.py::test_files_are_for_their_owner", "tests/test_doctor.py::test_loose_modes")),
    Goal("S11", "crafted weights are refused in a second",
         ("tests/encoder/test_weights.py", "tests/mindlib/test_tensors.py", f"{T}/test_fuzz.py::test_weights")),
    Goal("S12", "all other commands work without a network",
         (f"{T}/test_strangers.py::test_without_a_network", "tests/cli/test_expectations.py::test_no_network")),
    Goal("S13", "any query on any ledger: no error", (f"{T}/test_strangers.py::test_any_query",)),
    Goal("S14", "a lock with hashes, few packages, licences, banned calls", ("tests/test_supply.py",)),
    Goal("S15", "hostile names, arguments and bytes at an agent's tools: no process, no file but the mind's, 32 kB",
         (f"{T}/test_mcp.py", "tests/mcp/test_server.py::test_nothing_but_protocol_and_never_much",
          "tests/mcp/test_server.py::test_an_agent_s_session", "tests/mcp/test_together.py")),
    Goal("F", "fuzzing: ledger lines, settings, weights, words, subject files, embeddings answers",
         (f"{T}/test_fuzz.py",)),
)  # fmt: skip
