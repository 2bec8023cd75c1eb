# What an optimizer's step starts from, and what it leaves.


class Follower:
    """One optimizer: names and places of its parameters, found at the first step that is captured."""

    def __init__(self, ordinal):
        self.ordinal = ordinal
        self.optimizer = None  # weak reference
        self.parameters = None  # identities and requires_grad, group by group: what `pieces` was made for
        self.pieces = None  # by identity of the parameter
        self.beside = []  # (weak reference, piece) of the modules' parameters, where it steps copies of them
        self.buffers = []  # of the models whose parameters it steps, where no optimizer before it does
        self.batch_ranks = []  # that take parts of one batch
        self.open = None  # (step, key) while a step is under way
        self.closure = False

    def learn(self, optimizer):
        parameters = [[(id(p), p.requires_grad) for p in group["params"]] for group in optimizer.param_groups]
        if parameters == self.parameters:
            return
        self.optimizer = weakref.ref(optimizer)
        owners = find_owners(parameters_of(optimizer))
        self.parameters, self.pieces = parameters, {}
        self.beside = []
        self.batch_ranks = ranks_of_batch(owners.values())
        for group, params in enumerate(optimizer.param_groups):
            for index, parameter in enumerate(params["params"]):
                owner = owners.get(id(parameter))
                fallback = f"optimizer{self.ordinal}.group{group}.param{index}"
                pieces = FLAT.get(id(parameter)) or [whole_piece(parameter, owner, fallback)]
                for piece in pieces:
                    piece.detail = as_json(detail_of(piece, parameter, group, index, owner))
                self.pieces[id(parameter)] = pieces
        self.buffers = buffers_around(owners, self)
        if any(each not in owners and each not in FLAT for each in self.pieces):
            self.beside = parameters_beside(self.pieces)


def whole_piece(parameter, owner, fallback):
    place = place_of(parameter, owner)
    return Piece(fallback, place) if owner is None else Piece(owner.name, place, module=owner.module)


def buffers_around(owners, follower):
    """Of the models that hold some parameters, less those that another optimizer's step looks at."""
    taken = {id(each.module()) for other, _ in live_followers() if other is not follower for each in other.buffers}
    roots = [root for root in ROOTS if any(key in root.owners for key in owners)]
    return [each for root in roots for each in root.buffers if id(each.module()) not in taken]


def parameters_beside(pieces):
    """Parameters of modules that are trained, and that no optimizer seen so far holds."""
    held = {each for follower, _ in live_followers() for each in follower.pieces} | set(pieces)
    found = []
    for owner in (owner for root in ROOTS for owner in root.owners.values()):
        parameter = owner.parameter()
        if parameter is not None and parameter.requires_grad and id(parameter) not in held:
            found.append((owner.parameter, whole_piece(parameter, owner, owner.name)))
    return found


def detail_of(piece, parameter, group, index, owner):
    detail = {"group": group, "index": index, "requires_grad": parameter.requires_grad}
    if piece.module is not None:
        detail["module"] = piece.module
    if owner is not None and owner.tied:
        detail["tied"] = owner.tied
    if piece.shape is not None:
        detail["shape"] = piece.shape
    return detail


FOLLOWERS = {}


def live_followers():
    """(follower, optimizer) of those that stepped and are still there, in that order."""
    pairs = [(each, each.optimizer()) for each in FOLLOWERS.values() if each.optimizer is not None]
    return [(follower, optimizer) for follower, optimizer in pairs if optimizer is not None]


DETACHED = {}  # by a parameter's identity: (weak reference, path of the module that got its module's result detached)
DEPTH_MARK = 0x9E3779B97F4A7C15


def key_at(key, nested):
    """An optimizer inside another one may begin with the same parameter, and so have its key."""
    return (key ^ nested * DEPTH_MARK) & (1 << 64) - 1


def before_step(optimizer, step, ordinal, key, nested, arguments, keywords):
    with unseen():
        follower = FOLLOWERS.setdefault(ordinal, Follower(ordinal))
        follower.learn(optimizer)
        follower.open = (step, key_at(key, nested))
        closure = keywords.get("closure", arguments[1] if len(arguments) > 1 else None)
        follower.closure = closure is not None
        note_step(optimizer, follower, nested)
        note_groups(optimizer, follower)
        for parameter in parameters_of(optimizer):
            # A closure computes the gradients in the step: they are taken after it.
            if not follower.closure:
                capture_grad(follower, parameter)
            capture_pieces(follower, "param.before", parameter, parameter)
            capture_state(follower, optimizer, parameter, "before")
        capture_beside(follower)
        capture_buffers(follower)


def after_step(optimizer, ordinal):
    with unseen():
        follower = FOLLOWERS[ordinal]
        for parameter in parameters_of(optimizer):
            if follower.closure:
                capture_grad(follower, parameter)
            capture_pieces(follower, "param.after", parameter, parameter)
            capture_state(follower, optimizer, parameter, "after")
        follower.open = None
        for parameter in parameters_of(optimizer):
            DETACHED.pop(id(parameter), None)
        OUTPUTS.clear()
        flush_captures()


def unseen():
    """Neither __torch_function__ of the job's tensors nor its function modes see what we read."""
    return loaded("torch")._C.DisableTorchFunction()


def parameters_of(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def note_step(optimizer, follower, nested):
    step, key = follower.open
    kind = type(optimizer)
    detail = {
        "class": kind.__name__,
        "module": kind.__module__,
        "groups": len(optimizer.param_groups),
        "optimizer": follower.ordinal,
        "nested": nested,
        "closure": follower.closure,
        "batch_ranks": follower.batch_ranks,
        "without_grad": [
            piece.name
            for parameter in parameters_of(optimizer)
            if parameter.grad is None
            for piece in follower.pieces[id(parameter)]
        ],
        "detached": detached_ones(optimizer, follower),
    }
    # GradScaler leaves these on an optimizer that unscales by itself.
    scaler = {name: plain(getattr(optimizer, name, None)) for name in ("grad_scale", "found_inf")}
    if scaler["grad_scale"] is not None:
        detail["scaler"] = scaler
    capture(None, "optimizer.step", kind.__name__, step, 0, key, as_json(detail))


def detached_ones(optimizer, follower):
    """Of parameters without a gradient: the module that was given the result of theirs without its graph, by name."""
    found = {}
    for parameter in parameters_of(optimizer):
        weak, path = DETACHED.get(id(parameter), (None, ""))
        if weak is not None and weak() is parameter and parameter.grad is None:
            found.update((piece.name, path) for piece in follower.pieces[id(parameter)])
    return found


def note_groups(optimizer, follower):
    step, key = follower.open
    for index, (group, settings) in enumerate(zip(optimizer.param_groups, settings_of(optimizer))):
        names = [piece.name for parameter in group["params"] for piece in follower.pieces[id(parameter)]]
        detail = {"class": class_name(optimizer), "settings": settings, "params": names}
        capture(None, "optimizer.group", str(index), step, 0, key, as_json(detail))


def capture_pieces(follower, probe, parameter, tensor):
    """A tensor that belongs to a parameter: itself, its gradient, or state of its size."""
    step, key = follower.open
    local = local_part(tensor)
    for piece in follower.pieces[id(parameter)]:
        place, stretch = piece.place, piece.stretch
        if is_dtensor(tensor) and tensor is not parameter:
            place, stretch = place_beside(tensor, parameter, place)
        elif local.dim() != 1 and stretch is not None:
            stretch = None
        capture(local, probe, piece.name, step, 0, key, piece.detail, place, stretch)


def capture_beside(follower):
    step, key = follower.open
    for weak, piece in follower.beside:
        parameter = weak()
        if parameter is not None:
            capture(local_part(parameter), "model.param", piece.name, step, 0, key, "", piece.place)


def capture_buffers(follower):
    step, key = follower.open
    for buffer in follower.buffers:
        tensor = buffer.tensor()
        if isinstance(tensor, loaded("torch").Tensor) and not tensor.is_meta:
            detail = as_json({"module": buffer.kind})
            capture(local_part(tensor), "buffer", buffer.name, step, 0, key, detail, buffer_place(buffer, tensor))


def capture_grad(follower, parameter):
    grad = parameter.grad
    if grad is not None:
        capture_pieces(follower, "grad", parameter, grad)


def capture_state(follower, optimizer, parameter, when):
    state = getattr(optimizer, "state", None)
    entry = state.get(parameter) if isinstance(state, dict) else None
    if not isinstance(entry, dict):
        return
    step, key = follower.open
    tensor_kind = loaded("torch").Tensor
    for name, value in entry.items():
        probe = f"state.{name}.{when}"
        if isinstance(value, tensor_kind) and same_size(value, parameter):
            capture_pieces(follower, probe, parameter, value)
        elif isinstance(value, tensor_kind) or type(value) in (int, float):
            if isinstance(value, tensor_kind):
                value = local_part(value)
            for piece in follower.pieces[id(parameter)]:
                capture(value, probe, piece.name, step, 0, key, piece.detail)


def same_size(value, parameter):
    return tuple(value.shape) == tuple(parameter.shape) and value.dim() > 0
