# Follows the calls of the model's modules while a step is looked at: which one each operator belongs to, what the model
# is given, and what a template wants of a module.
import inspect
import re

PATHS = {}  # by identity of a module: (weak reference, path from the outermost module, wrappers left out)
MODEL_INPUTS = ("input_ids", "position_ids", "attention_mask", "labels")
MODULE_PLACES = []  # (pattern, probe, takes the output, selector) of the template
MOST_OUTPUTS = 100_000
OUTPUTS = {}  # by a storage's address: (weak reference to it, to the parameters of the module whose result it holds)
following = []


def path_pattern(text):
    """layers.*.attn: * is a part of a dotted name or a piece of one, ** any number of parts."""
    pieces = {"**": r".*", "*": r"[^.]*"}
    return re.compile("".join(pieces.get(each, re.escape(each)) for each in re.split(r"(\*\*|\*)", text)))


def learn_paths():
    for root in root_modules(all_modules()):
        for path, module, _ in walk(root):
            PATHS[id(module)] = (weakref.ref(module), path)


def module_path(module):
    known = PATHS.get(id(module))
    if known is not None and known[0]() is module:
        return known[1]
    learn_paths()
    known = PATHS.get(id(module))
    if known is not None and known[0]() is module:
        return known[1]
    PATHS[id(module)] = (weakref.ref(module), class_name(module))
    return class_name(module)


def is_shell(module):
    """A wrapper around the model: what it is given, the model is given too."""
    return any(is_wrapper(module, name) for name in children_of(module)[0])


def named_inputs(function, arguments, keywords):
    """Arguments by the names that a function gives them."""
    try:
        return inspect.signature(function).bind_partial(*arguments, **keywords).arguments
    except (TypeError, ValueError):
        return keywords


def is_tensor(value):
    return isinstance(value, loaded("torch").Tensor)


def first_tensor(value, depth=0):
    if is_tensor(value):
        return value
    if depth < 3 and isinstance(value, dict):
        value = tuple(value.values())
    if depth < 3 and isinstance(value, (tuple, list)):
        return next((each for each in (first_tensor(one, depth + 1) for one in value) if each is not None), None)
    return None


def select(value, selector):
    """The first tensor of a result or of arguments, or the item that a template names."""
    if not selector:
        return first_tensor(value)
    if selector.isdigit():
        items = tuple(value.values()) if isinstance(value, dict) else value
        items = (items,) if is_tensor(items) else items
        return items[int(selector)] if int(selector) < len(items) else None
    return value.get(selector) if isinstance(value, dict) else getattr(value, selector, None)


def take(probe, name, value, detail=None, number=None):
    """Captures one value of a probe in the step that is looked at. `number`: of several probes that belong together."""
    if not is_tensor(value) and type(value) not in (int, float):
        return
    place = dtensor_place(value) if is_tensor(value) and is_dtensor(value) else NOWHERE
    local = local_part(value) if is_tensor(value) else value
    if number is None:
        number = next_occurrence(probe, name)
    capture(local, probe, name, window_step(), number, 0, as_json(detail or {}), place)
    count_probe(probe)


def special_tokens(module):
    """What the model's settings say of them, as HuggingFace's do."""
    config = module.__dict__.get("config")
    return {
        short: value
        for short in ("bos", "eos", "pad")
        if type(value := getattr(config, short + "_token_id", None)) in (int, list) and is_plain(value)
    }


def take_model_inputs(module, path, arguments, keywords):
    if path or is_shell(module):
        return
    inputs = named_inputs(type(module).forward, (module, *arguments), keywords)
    for name in MODEL_INPUTS:
        # A model that hands keywords on has no argument of that name.
        value = inputs.get(name, keywords.get(name))
        if is_tensor(value):
            take(name, class_name(module), value, special_tokens(module))


def take_module_places(module, path, arguments, keywords, result):
    for pattern, probe, output, selector in MODULE_PLACES:
        if not pattern.fullmatch(path) or is_shell(module):
            continue
        if output:
            value = select(result, selector)
        elif not selector or selector.isdigit():
            value = select(tuple(arguments) + tuple(keywords.values()), selector)
        else:
            value = named_inputs(type(module).forward, (module, *arguments), keywords).get(selector)
        take(probe, path or class_name(module), value)


def storage_of(tensor):
    """What holds the elements of a plain floating tensor; a view and what detach() gives share it."""
    torch = loaded("torch")
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or not tensor.is_floating_point():
        return None
    return tensor.untyped_storage()


def trained_parameters(module):
    return [each for each in children_of(module)[1].values() if each is not None and each.requires_grad]


def note_output(module, result):
    """Remembers what a module with parameters of its own gave. The weak reference keeps the storage's address taken."""
    trained = trained_parameters(module)
    storage = storage_of(first_tensor(result)) if trained else None
    if storage is not None and len(OUTPUTS) < MOST_OUTPUTS:
        weak = loaded("torch.multiprocessing.reductions").StorageWeakRef(storage)
        OUTPUTS[storage._cdata] = (weak, [weakref.ref(each) for each in trained])


def note_detached_inputs(module, path, arguments, keywords):
    """A module that is given another one's result without its graph: nothing of that one is learned through it."""
    if not OUTPUTS:
        return
    for value in (*arguments, *keywords.values()):
        storage = storage_of(value) if is_tensor(value) and not value.requires_grad else None
        known = OUTPUTS.get(storage._cdata) if storage is not None else None
        if known is None:
            continue
        for weak in known[1]:
            parameter = weak()
            if parameter is not None:
                DETACHED[id(parameter)] = (weak, path or class_name(module))


def enter(module):
    place_late_functions()
    enter_module(module_path(module))


def leave(module, arguments, keywords, result):
    leave_module()
    path = module_path(module)
    take_model_inputs(module, path, arguments, keywords)
    if loaded("torch").is_grad_enabled():
        note_detached_inputs(module, path, arguments, keywords)
        note_output(module, result)
    if MODULE_PLACES:
        take_module_places(module, path, arguments, keywords, result)


def make_module_hooks():
    is_compiling = loaded("torch.compiler").is_compiling

    def before(module, arguments):
        if not is_compiling():
            run_guarded(enter, module)

    # After an exception torch calls it without keywords, and without a result.
    def after(module, arguments, *rest):
        if is_compiling():
            return
        if len(rest) == 2:
            run_guarded(leave, module, arguments, *rest)
        else:
            leave_module()

    return before, after


def follow_modules(on):
    """Hooks on all modules, there only while a step is looked at."""
    global following
    for handle in following:
        handle.remove()
    following = []
    if on:
        hooks = loaded("torch.nn.modules.module")
        before, after = make_module_hooks()
        following = [
            hooks.register_module_forward_pre_hook(before),
            hooks.register_module_forward_hook(after, with_kwargs=True, always_call=True),
        ]
