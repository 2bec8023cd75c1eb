"""What `run-reader diagnose` must say of each job of troubles.py."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Expected:
    fault: str  # for people
    check: str
    ranks: tuple  # that are to blame; None: nothing can tell
    operation: str = ""  # part of what names the operation
    group: str = ""
    line: str = "fault"  # the mark of the line that is to be named: fault or waits; empty: nothing can tell it
    exit_status: int = 1
    says: str = ""  # part of the title, or of what is told beside it


def hang(fault, ranks, operation="all_reduce", group="default_pg", line="fault"):
    return Expected(fault, "hang", ranks, operation, group, line)


def mismatch(fault, ranks, operation="all_reduce", group="default_pg", line="fault"):
    return Expected(fault, "mismatch", ranks, operation, group, line)


def crash(fault, line="fault"):
    return Expected(fault, "crash", (1,), line=line)


def memory(fault, ranks, request, formula=""):
    return Expected(fault, "memory", ranks, request, says=formula)


def slow(fault, ranks, says, operation="all_reduce", group="default_pg", line="waits"):
    return Expected(fault, "straggler", ranks, operation, group, line, says=says)


EXPECTED = {
    "uneven_batches": hang("a rank has one batch less, and waits for a file", (1,)),
    "uneven_batches_then_evaluation": mismatch("a rank has one batch less, and goes on to the evaluation", (1,)),
    "barrier_only_on_rank_0": mismatch("a barrier on rank 0 alone", (0,), "all_reduce"),
    "wrong_group": mismatch("a call in the column's group instead of the row's", (3,), group="column"),
    "all_to_all_on_one_rank": hang("all-to-all on one rank: the others have no tokens", (0, 2), "all_to_all", "experts"),
    "send_against_send": hang("two ranks send before they receive", (1,), "message"),
    "receive_against_receive": hang("all stages receive before they send", (0,), "message"),
    "stuck_holding_the_interpreter_lock": hang("stuck in native code that holds the interpreter lock", (1,)),
    "stuck_in_a_lock": hang("stuck in a lock of its own", (1,)),
    "stuck_in_io": hang("stuck in I/O", (1,)),
    "stuck_in_native_code": hang("stuck in native code", (1,)),
    "stuck_in_the_data_loader": hang("a worker of the data loader is stuck", (1,)),
    "killed": crash("killed by SIGKILL", line=""),
    "aborted": crash("aborted by native code"),
    "null_pointer": crash("a null pointer in native code"),
    "exception": crash("an exception on one rank"),
    "exit_0_early": hang("a rank leaves with exit status 0", (1,), line=""),
    "conditional_collective": mismatch("a collective under a condition that differs by rank", (0,)),
    "swapped_order": mismatch("two collectives in the other order", (1,)),
    "sum_against_max": mismatch("sum against max: the job ends with status 0", (1,)),
    "sizes_differ": mismatch("a branch without gradients on one rank: other sizes", (0,)),
    "types_differ": mismatch("other element type: the job ends with status 0", (1,)),
    "roots_differ": mismatch("other root", (1,), "broadcast"),
    "parts_differ": mismatch("all-to-all whose parts do not add up: the job ends with status 0", None, "all_to_all"),
    "called_twice": mismatch("one call too many", (1,)),
    "slow_rank": slow("one rank is slow in every step", (1,), "always the same rank"),
    "slow_by_turns": slow("ranks are slow by turns: garbage collection", (0, 1), "it collected Python's garbage"),
    "slow_with_its_work": slow("the rank with most work is slow", (0, 1), "moves between ranks with the work"),
    "slower_since_a_step": slow("all ranks become slower", (), "all ranks became slower together", "", "", ""),
    "leak": memory("tensors kept from every step", (0, 1), "1.0 MiB"),
    "growing_rows": memory("rows grow until the logits do not fit", (1,), "192006400 B", "batch x length x vocabulary x 4 B"),
    "quadratic_mask": memory("a mask of length x length", (0,), "100000000 B"),
}
