# Saving and loading: what was given to a save, and what is in place after a load.
#
# The functions are replaced where they live, in modules that the job has imported, by ones that look the same: signature,
# result and exceptions are the original's.
import functools

MOST_VALUES = 200  # plain values of a saved object that a note tells of
MOST_DEPTH = 8
last_path = ""  # what torch.load or its like read last
occurrences = {}
occurrences_of = -1


def occurrence(probe, name):
    """How often this probe has seen this name since the last optimizer step."""
    global occurrences_of
    if next_step() != occurrences_of:
        occurrences.clear()
        occurrences_of = next_step()
    count = occurrences.get((probe, name), 0)
    occurrences[probe, name] = count + 1
    return count


def quietly(function, *arguments):
    """Ours must never fail the job's."""
    try:
        with unseen():
            function(*arguments)
    except Exception as error:
        fact(f"captures.error.{function.__name__}", f"{class_name(error)}: {error}")


def note(probe, name, detail):
    capture(None, probe, name, next_step(), occurrence(probe, name), 0, as_json(detail))


def capture_named(probe, name, tensor, detail, place=NOWHERE):
    number = occurrence(probe, name)
    capture(local_part(tensor), probe, name, next_step(), number, 0, as_json(detail), place)


def path_of(target):
    """The path that the job named; of a file or of a storage its own; empty for a buffer in memory."""
    if isinstance(target, str):
        return target
    if hasattr(target, "__fspath__"):
        return str(target.__fspath__())
    found = getattr(target, "name", None) or getattr(target, "path", None)
    return str(found) if found is not None and type(found) is not int else ""


def place_in_mesh(tensor):
    return dtensor_place(tensor) if is_dtensor(tensor) else NOWHERE


def tensors_in(value, path=(), depth=0):
    """(path of keys, tensor) of everything in nested dicts and lists; plain values too."""
    if isinstance(value, dict):
        for key, each in value.items():
            if depth < MOST_DEPTH:
                yield from tensors_in(each, path + (key,), depth + 1)
    elif type(value) in (list, tuple):
        for index, each in enumerate(value):
            if depth < MOST_DEPTH:
                yield from tensors_in(each, path + (index,), depth + 1)
    else:
        yield path, value


def dotted(path):
    return ".".join(str(part) for part in path)


def values_of(value):
    """Plain values in a saved object: step, epoch, schedule, scaler."""
    found = {}
    for path, each in tensors_in(value):
        if type(each) in (bool, int, float, str) and len(found) < MOST_VALUES:
            found[dotted(path)] = plain(each)
    return found


def capture_content(verb, value, path):
    """Tensors of a saved or loaded object. An optimizer's state has names in the way of its state_dict: by index."""
    kind = loaded("torch").Tensor
    for keys, tensor in tensors_in(value):
        if not isinstance(tensor, kind):
            continue
        detail = {"path": path, "key": dotted(keys)}
        # ... "state", index of the parameter, key of its state
        if len(keys) >= 3 and keys[-3] == "state" and type(keys[-2]) is int:
            detail["index"] = keys[-2]
            capture_named(f"{verb}.optimizer.{keys[-1]}", dotted(keys[:-1]), tensor, detail, place_in_mesh(tensor))
        else:
            capture_named(f"{verb}.param", dotted(keys), tensor, detail, place_in_mesh(tensor))


def capture_generators():
    torch = loaded("torch")
    capture_named("rng", "cpu", torch.default_generator.get_state(), {})
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        capture_named("rng", "cuda", torch.cuda.get_rng_state(), {})


def after_save(function, value, path):
    note("save.note", function, {"path": path, "values": values_of(value)})
    capture_content("save", value, path)
    capture_generators()
    flush_captures()


def after_file_load(function, value, path):
    global last_path
    last_path = path
    note("load.note", function, {"path": path, "values": values_of(value)})


def after_in_place_load(function, value, path):
    after_file_load(function, value, path)
    capture_content("load", value, path)
    flush_captures()


def floating(tensor):
    return tensor is not None and tensor.is_floating_point() and not tensor.is_meta


def fill_with_nan(module, state):
    """So that a parameter which the load leaves out shows."""
    with loaded("torch").no_grad():
        for path, each, _ in walk(module):
            for parameter in children_of(each)[1].values():
                if floating(parameter):
                    local_part(parameter.detach()).fill_(float("nan"))
            for name, buffer in each.__dict__.get("_buffers", {}).items():
                if floating(buffer) and any(str(key).endswith(join(path, name)) for key in state):
                    local_part(buffer.detach()).fill_(float("nan"))


def before_module_load(module, state):
    if nan_fill():
        fill_with_nan(module, state)


def after_module_load(module, state, result):
    note(
        "load.note",
        "Module.load_state_dict",
        {
            "path": last_path,
            "module": class_name(module),
            "missing": list(getattr(result, "missing_keys", ())),
            "unexpected": list(getattr(result, "unexpected_keys", ())),
            "nan_filled": nan_fill(),
        },
    )
    detail = {"path": last_path, "module": class_name(module)}
    for path, each, _ in walk(module):
        hidden = each.__dict__.get("_non_persistent_buffers_set", ())
        held = dict(children_of(each)[1])
        held.update((n, b) for n, b in each.__dict__.get("_buffers", {}).items() if n not in hidden)
        for name, tensor in held.items():
            if tensor is not None:
                capture_named("load.param", join(path, name), tensor, detail, place_in_mesh(tensor))
    capture_generators()
    flush_captures()


LOADED_OPTIMIZERS = []  # weak references, in the order of their first loads


def loaded_optimizer_number(optimizer):
    for number, weak in enumerate(LOADED_OPTIMIZERS):
        if weak() is optimizer:
            return number
    LOADED_OPTIMIZERS.append(weakref.ref(optimizer))
    return len(LOADED_OPTIMIZERS) - 1


def after_optimizer_load(optimizer):
    follower = Follower(len(FOLLOWERS))
    ordinal = loaded_optimizer_number(optimizer)
    follower.learn(optimizer)
    kind = class_name(optimizer)
    note("load.note", "Optimizer.load_state_dict", {"path": last_path, "class": kind, "groups": settings_of(optimizer)})
    for index, parameter in enumerate(parameters_of(optimizer)):
        entry = optimizer.state.get(parameter)
        for name, value in entry.items() if isinstance(entry, dict) else ():
            if type(value) not in (int, float) and not isinstance(value, loaded("torch").Tensor):
                continue
            for piece in follower.pieces[id(parameter)]:
                detail = {"path": last_path, "optimizer": ordinal, "index": index}
                place, stretch = piece.place, piece.stretch
                if is_dtensor(value):
                    place = dtensor_place(value)
                elif not hasattr(value, "dim") or value.dim() == 0:
                    place, stretch = NOWHERE, None
                probe = f"load.optimizer.{name}"
                number = occurrence(probe, piece.name)
                value = local_part(value)
                capture(value, probe, piece.name, next_step(), number, 0, as_json(detail), place, stretch)
    flush_captures()


def settings_of(optimizer):
    return [
        {str(name): plain(value) for name, value in group.items() if name != "params" and is_plain(value)}
        for group in optimizer.param_groups
    ]


def replace(owners, name, make):
    """Puts a function around the one that all of the owners have under this name; once."""
    original = owners[0].__dict__.get(name)
    if original is None or getattr(original, "__wrapped__", None) in WRAPPED:
        return
    ours = functools.wraps(original)(make(original))
    WRAPPED.append(original)
    for owner in owners:
        if owner.__dict__.get(name) is original:
            setattr(owner, name, ours)


WRAPPED = []


def argument(arguments, keywords, index, name):
    return arguments[index] if len(arguments) > index else keywords.get(name)


def path_in(arguments, keywords, index, name):
    """Of a call; torch.distributed.checkpoint also takes a storage that has one."""
    given = argument(arguments, keywords, index, name)
    storage = keywords.get("storage_writer") or keywords.get("storage_reader")
    return path_of(storage if given is None else given)


def saving(function, value_name, path_at, path_name):
    """Around a function (value, …, path, …) that saves. What goes to a buffer in memory is no save."""

    def make(original):
        def save(*arguments, **keywords):
            result = original(*arguments, **keywords)
            path = path_in(arguments, keywords, path_at, path_name)
            if path:
                quietly(after_save, function, argument(arguments, keywords, 0, value_name), path)
            return result

        return save

    return make


def file_loading(function, path_name):
    """Around a function (path, …) that gives back what it has read."""

    def make(original):
        def load(*arguments, **keywords):
            result = original(*arguments, **keywords)
            path = path_in(arguments, keywords, 0, path_name)
            if path:
                quietly(after_file_load, function, result, path)
            return result

        return load

    return make


def in_place_loading(function):
    """Around a function (state_dict, …) that reads into the tensors that it is given."""

    def make(original):
        def load(*arguments, **keywords):
            result = original(*arguments, **keywords)
            path = path_in(arguments, keywords, 99, "checkpoint_id")
            quietly(after_in_place_load, function, argument(arguments, keywords, 0, "state_dict"), path)
            return result

        return load

    return make


def module_loading(original):
    def load_state_dict(self, state_dict, *arguments, **keywords):
        quietly(before_module_load, self, state_dict)
        result = original(self, state_dict, *arguments, **keywords)
        quietly(after_module_load, self, state_dict, result)
        return result

    return load_state_dict


def optimizer_loading(original):
    def load_state_dict(self, state_dict, *arguments, **keywords):
        result = original(self, state_dict, *arguments, **keywords)
        quietly(after_optimizer_load, self)
        return result

    return load_state_dict


def watch_checkpoints():
    """Replaces what is there to replace; called again when more may have been imported."""
    torch, serialization = loaded("torch"), loaded("torch.serialization")
    replace([serialization, torch], "save", saving("torch.save", "obj", 1, "f"))
    replace([serialization, torch], "load", file_loading("torch.load", "f"))
    replace([torch.nn.Module], "load_state_dict", module_loading)
    replace([torch.optim.Optimizer], "load_state_dict", optimizer_loading)
    safetensors = loaded("safetensors.torch")
    if safetensors is not None:
        replace([safetensors], "save_file", saving("safetensors.torch.save_file", "tensors", 1, "filename"))
        replace([safetensors], "load_file", file_loading("safetensors.torch.load_file", "filename"))
    package = loaded("torch.distributed.checkpoint")
    saver = loaded("torch.distributed.checkpoint.state_dict_saver")
    loader = loaded("torch.distributed.checkpoint.state_dict_loader")
    if package is not None and saver is not None and loader is not None:
        function = "torch.distributed.checkpoint"
        replace([saver, package], "save", saving(f"{function}.save", "state_dict", 99, "checkpoint_id"))
        replace([loader, package], "load", in_place_loading(f"{function}.load"))
