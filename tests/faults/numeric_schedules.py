"""Learning-rate schedules: of every kind, and ones that move too fast, another optimizer, or the wrong group."""

import functools

from torch.optim import lr_scheduler

from numeric_case import Case, Entry


class Scheduled(Case):
    """Moves its schedule once after each step, unless said otherwise."""

    def __init__(self, make, steps=4, moves=1, **settings):
        super().__init__(**settings)
        self.make, self.steps, self.moves = make, steps, moves

    def prepare(self, model, optimizer):
        self.schedule = self.make(optimizer)

    def after_step(self, step, model, optimizer):
        for _ in range(self.moves):
            self.schedule.step()


class ByMicroBatch(Scheduled):
    """Moves its schedule after each micro-batch; it is as long as all of them."""

    micro_batches = 2

    def backward(self, loss):
        super().backward(loss)
        self.schedule.step()

    def after_step(self, step, model, optimizer):
        pass


class MadeBefore(Scheduled):
    """The optimizer was made anew after the schedule, for the same parameters."""

    def prepare(self, model, optimizer):
        self.schedule = self.make(self.kind(model.parameters(), **self.settings))


class OlderLambdaLR(lr_scheduler.LambdaLR):
    """As PyTorch had it before it asked for as many groups as the schedule was made for."""

    def _update_lr(self, epoch=None):
        self.last_epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = lr


class GroupDropped(Scheduled):
    """Empty groups are dropped after the schedule was made: each group gets the learning rate of the one before."""

    def optimizer(self, model):
        groups = [{"params": list(model.up.parameters())}, {"params": [], "lr": 1e-3}]
        groups.append({"params": [*model.norm.parameters(), *model.head.parameters()], "lr": 1e-4})
        return self.kind(groups, **self.settings)

    def prepare(self, model, optimizer):
        super().prepare(model, optimizer)
        optimizer.param_groups = [group for group in optimizer.param_groups if group["params"]]


def falls_to_zero(steps, optimizer):
    return lr_scheduler.LambdaLR(optimizer, lambda epoch: max(0.0, 1 - epoch / steps))


def falls_as_told(current_step, num_training_steps):
    return max(0.0, 1 - current_step / num_training_steps)


def library_schedule(steps, optimizer):
    """As libraries make them: the number of steps is an argument of a partial function."""
    return lr_scheduler.LambdaLR(optimizer, functools.partial(falls_as_told, num_training_steps=steps))


def warm_up_then_fall(optimizer):
    warm_up = lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
    return lr_scheduler.SequentialLR(optimizer, [warm_up, lr_scheduler.CosineAnnealingLR(optimizer, 4)], [2])


def chained(optimizer):
    return lr_scheduler.ChainedScheduler(
        [lr_scheduler.ExponentialLR(optimizer, 0.9), lr_scheduler.StepLR(optimizer, 2)], optimizer
    )


MOVES = "lr moved through {} schedule steps per optimizer step; lr hits 0 at step {} of {}"
SCHEDULE_FAULTS = [
    Entry("schedule stepped twice", Scheduled(functools.partial(falls_to_zero, 10), 10, 2), "optimizer", 1,
          MOVES.format(2, 5, 10)),
    Entry("schedule stepped four times, of a library", Scheduled(functools.partial(library_schedule, 8), 8, 4),
          "optimizer", 1, MOVES.format(4, 2, 8)),
    Entry("schedule of another optimizer object", MadeBefore(functools.partial(falls_to_zero, 10)), "optimizer", 1,
          "lr stays 0.01, though LambdaLR moved it from 0.01 to 0.009"),
    Entry("group dropped after the schedule was made", GroupDropped(lambda optimizer: OlderLambdaLR(optimizer, lambda epoch: 1 - epoch / 10)), "optimizer", 1,
          "gives group 1 the learning rate of another group", "norm.weight"),
]
SCHEDULE_CLEAN = [
    Entry("linear schedule to its end", Scheduled(functools.partial(library_schedule, 4))),
    Entry("step schedule", Scheduled(lambda optimizer: lr_scheduler.StepLR(optimizer, 2))),
    Entry("one-cycle schedule", Scheduled(lambda optimizer: lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=5))),
    Entry("cosine schedule with restarts",
          Scheduled(lambda optimizer: lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2))),
    Entry("warm-up, then cosine", Scheduled(warm_up_then_fall)),
    Entry("chained schedules", Scheduled(chained)),
    Entry("schedule by micro-batch, as long as all of them", ByMicroBatch(functools.partial(library_schedule, 8))),
    Entry("schedule stepped for each of two processes, twice as long",
          Scheduled(functools.partial(library_schedule, 8), 4, 2)),
]
