# Learning-rate schedules: which optimizer each call of LRScheduler.step moves, and how far.
#
# A schedule made of others (SequentialLR, ChainedScheduler) counts as one: its inner calls are left alone.
SCHEDULES = (
    "LRScheduler",
    "SequentialLR",
    "ChainedScheduler",
    "CosineAnnealingWarmRestarts",
)
NUMBERS = {}  # by identity of a schedule: (weak reference, number in the order of sight)
HORIZONS = ("total_steps", "T_max", "total_iters")


def fields_of(value):
    fields = getattr(value, "__dict__", None)
    return fields if isinstance(fields, dict) else {}


def schedule_number(schedule):
    known = NUMBERS.get(id(schedule))
    if known is None or known[0]() is not schedule:
        known = NUMBERS[id(schedule)] = (weakref.ref(schedule), len(NUMBERS))
    return known[1]


def horizon_of(schedule):
    """The number of its steps after which it has ended, where it says so."""
    fields = fields_of(schedule)
    parts = fields.get("_schedulers")
    if isinstance(parts, (list, tuple)) and parts:
        ends = [horizon_of(part) for part in parts]
        milestones = fields.get("_milestones")
        if milestones:
            return None if ends[-1] is None else milestones[-1] + ends[-1]
        return None if None in ends else max(ends)
    for name in HORIZONS:
        if isinstance(fields.get(name), int):
            return fields[name]
    # A library's own: functools.partial(function, num_training_steps=…).
    for function in fields.get("lr_lambdas") or ():
        steps = (getattr(function, "keywords", None) or {}).get("num_training_steps")
        if isinstance(steps, int):
            return steps
    return None


def groups_of(optimizer):
    groups = fields_of(optimizer).get("param_groups")
    return [group for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []


def rates(groups, key="lr"):
    return [plain(group.get(key)) for group in groups]


def followed_by(test):
    """Ordinal of the latest optimizer that stepped and passes the test."""
    return next((follower.ordinal for follower, each in reversed(live_followers()) if test(each)), None)


def holds_groups(groups):
    wanted = {id(group) for group in groups}
    return lambda optimizer: any(id(group) in wanted for group in optimizer.param_groups)


def holds_parameters(groups):
    wanted = {id(parameter) for group in groups for parameter in group.get("params") or ()}
    return lambda optimizer: any(id(parameter) in wanted for parameter in parameters_of(optimizer))


def before_schedule(arguments, keywords):
    schedule = arguments[0] if arguments else None
    fields = fields_of(schedule)
    # The call that its own constructor makes moves nothing.
    if fields.get("_step_count") == 0:
        return arguments, keywords, None
    return arguments, keywords, (schedule, rates(groups_of(fields.get("optimizer"))))


def after_schedule(note, result):
    if note is None:
        return
    schedule, before = note
    fields = fields_of(schedule)
    groups = groups_of(fields.get("optimizer"))
    moves = followed_by(holds_groups(groups))
    detail = {
        "class": class_name(schedule),
        "schedule": schedule_number(schedule),
        "last_epoch": plain(fields.get("last_epoch")),
        "horizon": horizon_of(schedule),
        "optimizer": moves,
        "same_parameters": followed_by(holds_parameters(groups)) if moves is None else None,
        "before": before,
        "lr": rates(groups),
        "initial_lr": rates(groups, "initial_lr"),
        "base_lr": plain(fields.get("base_lrs")),
    }
    capture(None, "schedule", class_name(schedule), window_step(), next_occurrence("schedule", ""), 0, as_json(detail))
    count_probe("schedule")


def install_schedules():
    for name in SCHEDULES:
        put_stand_in(f"torch.optim.lr_scheduler.{name}.step", "schedule", before_schedule, after_schedule)
