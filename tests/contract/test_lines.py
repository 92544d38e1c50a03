"""Which tests hold which of the agent's behaviours: a list to find them by, and to lose none."""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

HELD: dict[int, tuple[str, tuple[str, ...]]] = {
    1: ("numbers are contiguous, and what is no JSON is refused", (
        "session/test_log.py::test_seq_is_contiguous_from_zero",
        "session/test_log_data.py::test_data_that_is_not_json_is_refused_and_the_log_stays_as_it_was",
    )),
    2: ("an appended payload is detached", (
        "session/test_log_data.py::test_changing_an_object_after_it_was_appended_changes_nothing",
        "session/test_log_data.py::test_what_a_fact_holds_cannot_be_changed_by_who_reads_it",
    )),
    3: ("the kept projection is a fold from scratch", (
        "session/test_projection.py::test_the_kept_state_equals_a_fold_from_scratch_after_every_append",
        "agent/test_stress.py::test_random_turns_keep_every_invariant",
    )),
    4: ("every request is its rebuild, and a header is written on a change", (
        "session/test_projection.py::test_the_independent_rebuild_agrees_to_the_byte",
        "session/test_check.py::test_a_message_that_differs_is_named_by_its_number",
        "agent/test_loop.py::test_a_header_is_written_only_on_a_change_and_again_after_a_resume",
        "agent/test_loop.py::test_a_rewritten_request_is_in_the_log_and_rebuilds",
        "plugins/test_ground_rules.py::test_the_prompt_stays_the_same_from_turn_to_turn",
        "agent/test_stress.py::test_random_turns_keep_every_invariant",
    )),
    5: ("an empty answer is logged and not projected", (
        "agent/test_loop.py::test_an_empty_answer_is_logged_with_what_it_cost_and_not_shown_to_the_model",
        "session/test_projection.py::test_an_empty_answer_is_not_shown",
    )),
    6: ("pairs hold in every projection", (
        "session/test_projection.py::test_pairs_hold_in_every_projection",
        "session/test_projection.py::test_an_answer_is_held_back_until_its_results_are_complete",
        "session/test_projection.py::test_missing_results_are_told_as_unknown",
        "agent/test_compaction_parts.py::test_pairs_hold_whatever_is_pruned_summed_up_and_rewound",
    )),
    7: ("an observer can hurt nobody", (
        "session/test_log.py::test_an_observer_that_throws_cannot_hurt_anybody",
        "session/test_log_data.py::test_an_observer_that_throws_after_it_appended_loses_and_reorders_nothing",
        "agent/test_hooks.py::test_an_observer_that_throws_is_contained",
    )),
    8: ("a new session writes nothing until its first fact", (
        "agent/test_sessions.py::test_a_new_session_writes_nothing_until_its_first_fact",
        "session/test_index.py::test_a_session_in_which_nothing_has_happened_is_not_listed",
    )),
    9: ("a prefix of the file is a prefix of the log", (
        "session/test_store.py::test_any_byte_prefix_of_the_file_is_a_prefix_of_the_log",
        "session/test_store.py::test_a_torn_tail_is_set_aside_and_the_log_goes_on",
    )),
    10: ("what a broken-off log left open is closed", (
        "agent/test_sessions.py::test_a_closed_log_gets_nothing_when_it_is_opened_again",
        "session/test_recovery.py::test_every_call_gets_the_result_that_fits_how_far_it_came",
        "session/test_recovery.py::test_what_was_said_last_stays_as_an_interrupted_message",
    )),
    11: ("what is newer is refused, what is damaged is shown", (
        "session/test_loading.py::test_a_newer_version_is_refused_with_what_to_do",
        "session/test_loading.py::test_a_fact_that_may_be_skipped_is_kept_in_its_place",
        "session/test_loading.py::test_any_line_that_is_damaged_missing_or_doubled_leaves_the_turns_before_it",
        "agent/test_fork.py::test_a_damaged_session_can_be_forked_at_its_last_good_turn",
    )),
    12: ("nothing starts before its prefix is durable", (
        "tools/test_execute.py::test_a_full_disk_runs_nothing_also_on_a_second_next",
        "agent/test_pipeline.py::test_no_layer_and_no_tool_can_make_a_result_of_a_log_that_cannot_be_written",
        "agent/test_driver.py::test_no_model_is_asked_and_no_body_runs_before_its_prefix_is_durable",
        "agent/test_sessions.py::test_a_full_disk_ends_the_turn_and_the_next_one_writes_all",
    )),
    13: ("one writer a session", (
        "session/test_store.py::test_a_second_process_is_refused_until_the_first_is_killed",
        "agent/test_sessions.py::test_a_second_process_reads_and_takes_over_when_the_first_was_killed",
    )),
    14: ("fork works at any turn's end", (
        "agent/test_fork.py::test_fork_works_at_any_turns_end_of_live_and_of_closed_sessions",
        "agent/test_fork.py::test_what_waits_in_the_parent_and_what_was_allowed_there_is_not_inherited",
        "agent/test_fork.py::test_a_turn_that_runs_or_does_not_exist_is_no_boundary_and_creates_nothing",
    )),
    15: ("rewind restores only what the agent wrote", (
        "agent/test_rewind.py::test_files_are_put_back_and_created_ones_removed",
        "agent/test_rewind.py::test_a_file_that_is_not_as_the_agent_left_it_is_reported_and_left_alone",
        "agent/test_rewind.py::test_a_rewind_is_taken_back_and_the_one_before_it_too",
    )),
    16: ("one queued message is one turn", (
        "agent/test_queue.py::test_one_queued_message_is_one_turn_in_order",
        "agent/test_queue.py::test_idle_returns_once_when_all_that_waited_is_done",
    )),
    17: ("steering enters at the next step", (
        "agent/test_queue.py::test_steering_waits_for_the_stream_and_enters_at_the_next_step_of_its_turn",
        "agent/test_queue.py::test_steering_while_idle_opens_a_turn",
        "agent/test_queue.py::test_steering_interrupts_no_tool",
        "agent/test_loop.py::test_a_steered_message_enters_at_the_next_step",
    )),
    18: ("injected context opens no turn", (
        "agent/test_queue.py::test_context_alone_opens_no_turn_and_enters_with_the_next",
        "agent/test_loop.py::test_context_lands_after_all_results_and_never_opens_a_turn",
        "agent/test_queue.py::test_context_that_comes_as_a_turn_ends_opens_no_other",
        "agent/test_queue.py::test_context_does_not_wake_a_parked_queue",
    )),
    19: ("pre-step runs before each step, and its answer is recorded", (
        "agent/test_driver.py::test_pre_step_runs_before_each_step_starts_and_its_answer_is_what_is_recorded",
        "agent/test_loop.py::test_pre_step_may_reject_stop_or_rewrite_the_input",
    )),
    20: ("a cancel keeps what is there, and the first cause wins", (
        "agent/test_cancel.py::test_idle_there_is_nothing_to_cancel",
        "agent/test_cancel.py::test_mid_stream_the_visible_prefix_stays_and_the_model_sees_it",
        "agent/test_cancel.py::test_mid_tools_each_call_gets_one_result",
        "agent/test_cancel.py::test_a_body_that_had_its_outcome_keeps_it",
        "agent/test_cancel.py::test_the_first_cause_wins_and_what_waits_is_dropped",
        "agent/test_driver.py::test_a_turn_can_be_cancelled_in_every_hook",
        "agent/test_driver.py::test_a_cancel_that_comes_too_late_to_stop_anything_is_still_the_end",
        "agent/test_pipeline.py::test_an_outcome_that_was_there_before_the_cancel_is_kept",
        "agent/test_queue.py::test_a_cancel_that_keeps_the_queue_keeps_all_of_it",
    )),
    21: ("a message between cancel and idle runs once", (
        "agent/test_cancel.py::test_a_message_between_cancel_and_idle_runs_once",
        "agent/test_queue.py::test_each_message_between_cancel_and_idle_runs_once",
    )),
    22: ("what swallows a cancel is stopped, and who never returns is named", (
        "agent/test_cancel.py::test_a_body_that_swallows_the_first_cancel_is_still_stopped",
        "agent/test_driver.py::test_a_layer_that_swallows_the_first_cancel_is_still_stopped",
        "agent/test_driver.py::test_a_model_that_swallows_the_first_cancel_is_still_stopped",
        "agent/test_driver.py::test_a_layer_that_never_returns_is_named_and_the_turn_can_be_cancelled",
    )),
    23: ("a cut answer runs nothing", (
        "agent/test_cut.py::test_a_cut_answer_runs_nothing_and_the_end_says_why",
        "model/test_openai_chat.py::test_a_body_that_ends_without_a_finish_is_truncated",
        "model/test_openai_chat.py::test_a_body_in_which_nothing_came_is_empty",
    )),
    24: ("what may be answered later is asked again", (
        "plugins/test_retry.py::test_what_may_be_answered_later_is_asked_again",
        "plugins/test_retry.py::test_there_are_five_attempts_in_all_and_the_last_failure_ends_the_turn",
        "plugins/test_retry.py::test_what_the_provider_asks_for_is_the_least",
        "plugins/test_retry.py::test_a_short_wait_is_waited_and_a_long_one_ends_the_turn_and_is_named",
        "agent/test_driver.py::test_a_turn_can_be_cancelled_while_it_waits_to_try_again",
        "agent/test_hooks.py::test_each_attempt_runs_the_request_layers_again",
        "agent/test_loop.py::test_a_retry_stays_in_the_step_and_discards_what_the_failed_attempt_said",
    )),
    25: ("two sessions run side by side", (
        "agent/test_driver.py::test_a_fault_in_one_session_does_not_touch_another",
        "lsp/test_turns.py::test_two_sessions_run_side_by_side",
    )),
    26: ("parallel calls overlap, an exclusive one is a barrier", (
        "agent/test_pipeline.py::test_parallel_calls_overlap_up_to_the_limit",
        "agent/test_pipeline.py::test_an_exclusive_call_is_a_barrier_from_prepare_to_commit",
        "agent/test_pipeline.py::test_parallel_calls_run_beside_one_that_waits_for_its_approval",
        "agent/test_pipeline.py::test_calls_that_wait_for_the_person_hold_no_slot",
        "agent/test_pipeline.py::test_a_limit_of_one_makes_every_call_exclusive",
        "agent/test_pipeline.py::test_whatever_is_not_exactly_parallel_is_exclusive",
    )),
    27: ("commits are in the model's order", (
        "tools/test_schedule.py::test_results_are_committed_in_the_models_order_whatever_settles_first",
        "agent/test_hooks.py::test_a_judge_sees_each_call_with_its_outcome_in_the_models_order",
        "agent/test_pipeline.py::test_contexts_are_committed_in_the_models_order_whatever_settled_first",
    )),
    28: ("arguments are validated and never repaired, ids are unique", (
        "tools/test_execute.py::test_every_violation_of_the_arguments_is_named",
        "agent/test_loop.py::test_every_failure_of_a_call_is_a_result_and_the_turn_goes_on",
        "agent/test_loop.py::test_ids_that_are_empty_or_used_are_replaced_and_a_doubled_call_runs_once",
        "agent/test_loop.py::test_the_same_call_without_an_id_is_another_call_each_time",
    )),
    29: ("every failure of a call is an error result, and the turn goes on", (
        "agent/test_pipeline.py::test_whatever_a_body_raises_is_an_error_and_the_turn_goes_on",
        "agent/test_pipeline.py::test_a_body_that_outlives_its_time_limit_is_an_error_and_the_turn_goes_on",
        "agent/test_pipeline.py::test_a_result_that_cannot_be_serialised_is_an_error_and_the_turn_goes_on",
        "agent/test_hooks.py::test_a_layer_of_a_call_that_throws_makes_it_an_error_and_the_turn_goes_on",
        "agent/test_hooks.py::test_a_guard_that_throws_makes_the_call_an_error_and_runs_nothing",
        "agent/test_loop.py::test_an_approved_command_runs_and_a_rejected_one_does_not",
    )),
    30: ("output is bounded once, and a result is frozen", (
        "agent/test_loop.py::test_a_long_result_is_cut_and_kept_as_a_blob",
        "agent/test_pipeline.py::test_a_result_is_made_to_fit_exactly_once",
        "agent/test_pipeline.py::test_a_long_outcome_is_bounded_and_whole_in_a_blob_also_after_a_cancel",
        "agent/test_pipeline.py::test_an_observer_cannot_change_a_result",
    )),
    31: ("the context is made smaller above the threshold, and no pair is split", (
        "agent/test_compaction.py::test_nothing_is_made_smaller_below_the_threshold",
        "agent/test_compaction.py::test_a_long_turn_is_pruned_first_and_summed_up_only_if_that_is_not_enough",
        "agent/test_compaction.py::test_no_call_is_open_when_something_is_left_out",
        "agent/test_compaction_idle.py::test_compacting_while_idle_is_a_turn_without_steps",
    )),
    32: ("a summary that does not shrink is refused", (
        "agent/test_compaction.py::test_a_summary_of_no_use_is_asked_for_twice_and_changes_nothing",
        "agent/test_compaction.py::test_what_cannot_fit_ends_the_turn_and_names_the_fixed_part",
    )),
    33: ("an overflow compacts once", (
        "agent/test_compaction.py::test_an_overflow_makes_it_smaller_once_and_asks_again",
        "agent/test_compaction.py::test_where_nothing_shrank_it_is_not_asked_again",
        "agent/test_compaction.py::test_where_the_summary_fails_the_first_failure_stands",
    )),
    34: ("what the person sees is not shortened", (
        "agent/test_compaction.py::test_what_the_person_sees_and_the_log_are_not_shortened",
    )),
    35: ("what a plugin added is gone after it is unloaded", (
        "agent/test_plugins.py::test_everything_a_plugin_added_is_gone_after_it_is_unloaded",
        "agent/test_plugins.py::test_a_reload_takes_effect_at_the_next_step_of_a_turn_that_runs",
    )),
    36: ("the examples run as they read", (
        "examples/test_example_plugins.py::test_the_cost_guard_stops_a_turn_over_its_token_budget",
        "examples/test_example_plugins.py::test_every_example_is_tested_here",
    )),
}  # fmt: skip
"""By number: what it says, and the tests that hold it."""


@cache
def functions_of(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("number", HELD, ids=lambda number: f"{number}")
def test_every_behaviour_is_held_by_tests_that_exist(number: int) -> None:
    _, names = HELD[number]
    assert names
    for name in names:
        file, _, function = name.partition("::")
        assert function.startswith("test_")
        assert function in functions_of(TESTS / file), f"{name} does not exist"


def test_no_behaviour_is_missing() -> None:
    assert list(HELD) == list(range(1, 37))
