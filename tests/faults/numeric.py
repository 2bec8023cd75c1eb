"""Small trainings, one after the other in one process a rank, each with its own optimizer: some right, some with a fault that no error
tells of.

    torchrun --nproc-per-node 2 numeric.py [NAME…]
"""

import gc
import sys

import torch
import torch.distributed as dist

from numeric_buffers import BUFFER_CLEAN, BUFFER_FAULTS
from numeric_clean import CLEAN
from numeric_clipping import CLIPPING_CLEAN, CLIPPING_FAULTS
from numeric_faults import STATE_FAULTS
from numeric_gradients import GRADIENT_CLEAN, GRADIENT_FAULTS
from numeric_heads import HEAD_ENTRIES
from numeric_loss import FIRST_STEP, LOSS_ENTRIES, Language
from numeric_schedules import SCHEDULE_CLEAN, SCHEDULE_FAULTS

# Those of LOSS_ENTRIES and HEAD_ENTRIES come last: their captures go by the steps of one optimizer that is there for all of them.
ENTRIES = [
    *STATE_FAULTS,
    *GRADIENT_FAULTS,
    *CLIPPING_FAULTS,
    *SCHEDULE_FAULTS,
    *BUFFER_FAULTS,
    *CLEAN,
    *GRADIENT_CLEAN,
    *CLIPPING_CLEAN,
    *SCHEDULE_CLEAN,
    *BUFFER_CLEAN,
    *LOSS_ENTRIES,
    *HEAD_ENTRIES,
]


def chosen(names):
    return [entry for entry in ENTRIES if not names or entry.name in names]


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    for entry in chosen(sys.argv[1:]):
        if isinstance(entry.case, Language) and Language.clock is None:
            Language.clock = torch.optim.SGD([torch.zeros(1)])
            for _ in range(FIRST_STEP):
                Language.clock.step()
        entry.case.train()
        # Its optimizers go, so that the next one counts its steps from the beginning.
        entry.case = None
        gc.collect()
    dist.destroy_process_group()
