# Probes of a diagnosis that are Python functions: backward, gradient clipping, and those of the template. What is an
# operator is seen in operator_probes.cpp, what is a module in modules.
import atexit

WAITING = []  # of the template: functions whose modules have not been imported
LATE_CLIPS = ["torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel.clip_grad_norm_"]
OPERATOR_PROBES = ("input_ids", "logits", "labels", "loss")


def before_backward(arguments, keywords):
    tensors = arguments[0] if arguments else keywords.get("tensors")
    # Tensors may come as any sequence; one that can be gone through once only is left to its owner.
    tensors = [tensors] if is_tensor(tensors) else tensors if isinstance(tensors, (tuple, list)) else ()
    factors = arguments[1] if len(arguments) > 1 else keywords.get("grad_tensors")
    if not isinstance(factors, (tuple, list)) or len(factors) != len(tensors):
        factors = [factors] * len(tensors)
    for tensor, factor in zip(tensors, factors):
        detail = {} if factor is None else {"weighted": True}
        # A hook may give the loss any factor.
        if is_tensor(tensor) and tensor._backward_hooks:
            detail["hooked"] = True
        take("backward.loss", "", tensor, detail)
    # Before the first backward of a step nothing should be left of the last one.
    if next_occurrence("backward", "") == 0:
        take_gradients(followed_parameters(), "grad.kept", {"names": []})
    return arguments, keywords, None


def after_backward(note, result):
    take_gradients(followed_parameters(), "grad.backward", {"names": []})


def followed_parameters():
    """Those of the optimizers that stepped; before the first one does, those of all modules."""
    parameters = [parameter for _, optimizer in live_followers() for parameter in parameters_of(optimizer)]
    if parameters:
        return parameters
    return owned_gradients() or (look_again(), owned_gradients())[1]


def owned_gradients():
    owned = [owner.parameter() for root in ROOTS for owner in root.owners.values()]
    return [parameter for parameter in owned if parameter is not None and parameter.grad is not None]


def again(values, error):
    """What a generator that was gone through gave, once more."""
    yield from values
    if error is not None:
        raise error


def before_clip(arguments, keywords):
    """A generator of parameters is gone through once, here; the function gets another one of the same."""
    keywords = dict(keywords)
    parameters = arguments[0] if arguments else keywords["parameters"]
    several = [parameters] if is_tensor(parameters) else parameters
    if inspect.isgenerator(parameters):
        several, error = [], None
        try:
            several.extend(parameters)
        except Exception as raised:
            error = raised
        parameters = again(several, error)
    if arguments:
        arguments = (parameters, *arguments[1:])
    else:
        keywords["parameters"] = parameters
    note = {"names": [], "max_norm": plain(arguments[1] if len(arguments) > 1 else keywords.get("max_norm"))}
    # What fails from here on must not lose the generator.
    if isinstance(several, (list, tuple)):
        run_guarded(take_gradients, several, "grad.before_clip", note)
    return arguments, keywords, note


def take_gradients(parameters, probe, note):
    known = {key: pieces for follower, _ in live_followers() for key, pieces in follower.pieces.items()}
    owners = find_owners([each for each in parameters if id(each) not in known])
    for parameter in parameters:
        for piece in known.get(id(parameter)) or pieces_of(parameter, owners):
            note["names"].append(piece.name)
            grad = parameter.grad
            if grad is None:
                continue
            local = local_part(grad)
            place, stretch = piece.place, piece.stretch if local.dim() == 1 else None
            if is_dtensor(grad):
                place, stretch = place_beside(grad, parameter, place)
            number = next_occurrence(probe, piece.name)
            detail = getattr(piece, "detail", None) or ""
            capture(local, probe, piece.name, window_step(), number, 0, detail, place, stretch)
            count_probe(probe)


def pieces_of(parameter, owners):
    owner = owners.get(id(parameter))
    return FLAT.get(id(parameter)) or [whole_piece(parameter, owner, "unnamed")]


def after_clip(note, total_norm, norm_type=2.0, name="clip_grad_norm_"):
    if note is None:
        return
    local = local_part(total_norm) if is_tensor(total_norm) else total_norm
    value = number_of(local) if is_tensor(local) else local
    detail = {
        "max_norm": note["max_norm"],
        "norm_type": plain(note.get("norm_type", norm_type)),
        "total_norm": plain(value),
        "params": note["names"],
    }
    if is_tensor(total_norm) and is_dtensor(total_norm):
        detail["placement"] = str(tuple(total_norm.placements))
    capture(None, "clip", name, window_step(), next_occurrence("clip", name), 0, as_json(detail))
    count_probe("clip")


def before_clip_norm(arguments, keywords):
    arguments, keywords, note = before_clip(arguments, keywords)
    note["norm_type"] = arguments[2] if len(arguments) > 2 else keywords.get("norm_type", 2.0)
    return arguments, keywords, note


def before_clip_of_module(arguments, keywords):
    """module.clip_grad_norm_(max_norm, norm_type) of FSDP1, whose gradients are shards."""
    note = {"names": [], "max_norm": plain(argument(arguments, keywords, 1, "max_norm"))}
    note["norm_type"] = arguments[2] if len(arguments) > 2 else keywords.get("norm_type", 2.0)
    run_guarded(take_gradients, list(arguments[0].parameters()), "grad.before_clip", note)
    return arguments, keywords, note


def before_clip_with_norm(arguments, keywords):
    """clip_grads_with_norm_(parameters, max_norm, total_norm): the norm was computed before."""
    arguments, keywords, note = before_clip(arguments, keywords)
    note["total"] = arguments[2] if len(arguments) > 2 else keywords.get("total_norm")
    return arguments, keywords, note


def after_clip_with_norm(note, result):
    if note is not None:
        after_clip(note, note["total"], None, "clip_grads_with_norm_")


def template_function(probe, path, output, selector):
    """Before and after of a function that the template names."""

    def before(arguments, keywords):
        if output:
            return None
        if not selector or selector.isdigit():
            value = select(tuple(arguments) + tuple(keywords.values()), selector)
        else:
            found = owner_of(path)
            value = named_inputs(getattr(*found), arguments, keywords).get(selector) if found else None
        take(probe, path, value)
        return None

    def after(note, result):
        if output:
            take(probe, path, select(result, selector))

    return before, after


def place_late_functions():
    """Functions of modules that were imported meanwhile."""
    for path in list(LATE_CLIPS):
        if put_stand_in(path, "clip", before_clip_of_module, after_clip):
            LATE_CLIPS.remove(path)
    place_late_heads()
    for entry in list(WAITING):
        probe, path, output, selector = entry
        # Each of several probes at one function has its own stand-in.
        if put_stand_in(path, f"{path} {probe} {output} {selector}", *template_function(*entry)):
            WAITING.remove(entry)


def template_places():
    return json.loads(probe_template() or "{}").get("probes", [])


def read_template():
    heads = {place["target"] for place in template_places() if place["probe"] == "head.hidden"}
    for place in template_places():
        probe, target = place["probe"], place["target"]
        entry = (probe, target, place["output"], place["selector"])
        if place["kind"] == "module":
            MODULE_PLACES.append((path_pattern(target), probe, place["output"], place["selector"]))
        elif place["kind"] == "function" and target in heads:
            add_head(target, probe, place["output"], place["selector"])
        elif place["kind"] == "function":
            WAITING.append(entry)
        else:
            add_operator_place(target, probe, place["output"], place["selector"])
    return [place["probe"] for place in template_places()]


def why_never(place):
    """Of a place that no probe fired at, as far as it is known."""
    kind, target = place["kind"], place["target"]
    if kind == "module":
        paths = [path for _, path in PATHS.values()]
        if not any(path_pattern(target).fullmatch(path) for path in paths):
            return f"no module that was called has a path like {target}"
        found = f"module {target} was called"
    elif kind == "function":
        if target in WAITING_HEADS or any(path == target for _, path, _, _ in WAITING):
            return f"function {target} is in no module that was imported"
        return f"function {target} was not called in a captured step, or gave no such tensor"
    else:
        return f"operator {target} was not called in a captured step, or gave no such tensor"
    side = "output" if place["output"] else "input"
    return f"{found}, but has no tensor at {side}{'.' if place['selector'] else ''}{place['selector']}"


def note_probes(armed, ended):
    counts = json.loads(probe_counts())
    never = [probe for probe in armed if probe not in counts]
    detail = {"armed": armed, "ended": ended}
    if ended:
        reasons = {}
        for place in template_places():
            if place["probe"] in never:
                reasons.setdefault(place["probe"], []).append(why_never(place))
        detail.update(fired=counts, never=never, reasons=reasons)
    capture(None, "probes", "", -1, 0, 0, as_json(detail))


def install_probes():
    """Once, when a diagnosis begins."""
    put_stand_in("torch.autograd.backward", "backward", before_backward, after_backward)
    put_stand_in("torch.nn.utils.clip_grad.clip_grad_norm_", "clip", before_clip_norm, after_clip)
    put_stand_in("torch.nn.utils.clip_grad._clip_grads_with_norm_", "clip", before_clip_with_norm, after_clip_with_norm)
    install_schedules()
    armed = sorted({*OPERATOR_PROBES, "backward.loss", *read_template()})
    place_late_functions()
    note_probes(armed, False)
    atexit.register(run_guarded, note_probes, armed, True)
