# Fused heads: the last projection and the cross-entropy in one function, which works on pieces of the logits and never has
# them whole. What goes into it is captured instead, so that they can be made again.
ARGUMENT_KINDS = (bool, int, float, str)

# By the function's path: which argument or result is what. A template's are added.
HEADS = {
    "trl.kernels.chunked_logprob.ChunkedLogProbFunction.forward": {
        "head.hidden": (False, "hidden"),
        "head.weight": (False, "weight"),
        "head.bias": (False, "bias"),
        "head.labels": (False, "targets"),
        "token_logprob": (True, "0"),
    },
    "liger_kernel.ops.fused_linear_cross_entropy.LigerFusedLinearCrossEntropyFunction.forward": {
        "head.hidden": (False, "_input"),
        "head.weight": (False, "weight"),
        "head.bias": (False, "bias"),
        "head.labels": (False, "target"),
        "loss": (True, "0"),
    },
}
WAITING_HEADS = dict(HEADS)  # whose modules have not been imported
WEIGHTS = {}  # of the step that is looked at, by storage, version and form: (weak reference to the storage, number)


def add_head(path, probe, output, selector):
    """A place that a template names at a function, of which it names the hidden states."""
    WAITING_HEADS.setdefault(path, {})[probe] = (output, selector)


def weight_number(weight, number):
    """(number of the capture that has this weight's elements, whether it is still to be made). The weak reference keeps the
    storage's address taken."""
    storage = weight.untyped_storage()
    form = (storage._cdata, weight._version, weight.storage_offset(), tuple(weight.shape), tuple(weight.stride()))
    if WEIGHTS.get("step") != window_step():
        WEIGHTS.clear()
        WEIGHTS["step"] = window_step()
    known = WEIGHTS.get(form)
    if known is None:
        weak = loaded("torch.multiprocessing.reductions").StorageWeakRef(storage)
        known = WEIGHTS[form] = (weak, number)
    return known[1], known[1] == number


def arithmetic_of(hidden):
    """What the projection computes in, where that is not what it is given."""
    torch = loaded("torch")
    kind = hidden.device.type
    if torch.is_autocast_enabled(kind):
        return {"autocast": str(torch.get_autocast_dtype(kind)).removeprefix("torch.")}
    if kind == "cuda" and hidden.dtype == torch.float32:
        return {"tf32": bool(torch.backends.cuda.matmul.allow_tf32)}
    return {}


def whole_arguments(function, arguments, keywords):
    bound = inspect.signature(function).bind_partial(*arguments, **keywords)
    bound.apply_defaults()
    return bound.arguments


def head_function(path, places):
    """Before and after of a fused head."""

    def before(arguments, keywords):
        named = whole_arguments(getattr(*owner_of(path)), arguments, keywords)
        given = {}
        for probe, (output, selector) in places.items():
            if not output:
                by_number = not selector or selector.isdigit()
                given[probe] = select(tuple(arguments) + tuple(keywords.values()) if by_number else named, selector)
        hidden = given.get("head.hidden")
        if not is_tensor(hidden):
            return None
        number = next_occurrence("head", path)
        detail = {"function": path, "requires_grad": hidden.requires_grad, **arithmetic_of(hidden)}
        detail["arguments"] = {name: plain(value) for name, value in named.items() if type(value) in ARGUMENT_KINDS}
        known = [id(value) for value in given.values()]
        detail["more"] = [name for name, value in named.items() if is_tensor(value) and id(value) not in known]
        weight, new = given.get("head.weight"), True
        if is_tensor(weight):
            detail["weight"], new = weight_number(local_part(weight), number)
        for probe, value in given.items():
            if probe != "head.weight" or new:
                take(probe, path, value, detail, number)
        return arguments, keywords, (number, detail)

    def after(note, result):
        for probe, (output, selector) in places.items():
            if output and note is not None:
                take(probe, path, select(result, selector), note[1], note[0])

    return before, after


def place_late_heads():
    for path, places in list(WAITING_HEADS.items()):
        if put_stand_in(path, f"{path} head", *head_function(path, places)):
            del WAITING_HEADS[path]
