# Names of parameters: the path from the outermost module that holds them, as a checkpoint would call them.
#
# Nothing here keeps a module or a parameter of the job alive.
import gc
import weakref

WRAPPERS = {"_fsdp_wrapped_module", "_orig_mod", "_checkpoint_wrapped_module"}


class Owner:
    """Where a parameter sits: its name, the class of the module that holds it, the DistributedDataParallel around, and
    all around that give each rank a part of the batch."""

    __slots__ = ("name", "module", "replicated_by", "sharers", "tied", "parameter")

    def __init__(self, name, parameter, module, around):
        self.name, self.module, self.tied = name, class_name(module), []
        self.parameter = weakref.ref(parameter)
        self.replicated_by = next((weakref.ref(each) for each in around if is_ddp(each)), None)
        self.sharers = tuple(weakref.ref(each) for each in around if divides_batch(each))


class Buffer:
    """Where a buffer sits; the module may put another tensor there at any time."""

    __slots__ = ("name", "key", "module", "kind", "replicated_by", "sharers")

    def __init__(self, path, key, module, around):
        self.name, self.key, self.module, self.kind = join(path, key), key, weakref.ref(module), class_name(module)
        self.replicated_by = next((weakref.ref(each) for each in around if is_ddp(each)), None)
        self.sharers = tuple(weakref.ref(each) for each in around if divides_batch(each))

    def tensor(self):
        module = self.module()
        return None if module is None else buffers_of(module).get(self.key)


class Root:
    """A module that no other one holds, as it was at the last look."""

    __slots__ = ("name", "owners", "buffers")

    def __init__(self, module):
        self.name, self.owners, self.buffers = class_name(module), owners_below(module), buffers_below(module)

    def find(self, parameters):
        """Owners of those of the parameters that are below it."""
        found = {}
        for parameter in parameters:
            owner = self.owners.get(id(parameter))
            if owner is not None and owner.parameter() is parameter:
                found[id(parameter)] = owner
        return found


ROOTS = []
NAMES = {}  # what each name given so far stands for
MOST_LOOKS = 100
looks = 0


def is_ddp(module):
    kind = getattr(loaded("torch.nn.parallel"), "DistributedDataParallel", None)
    return kind is not None and isinstance(module, kind)


def all_modules():
    """Every nn.Module that is alive."""
    base = loaded("torch").nn.Module
    kinds, new = {base}, [base]
    while new:
        new = [kind for each in new for kind in type.__subclasses__(each) if kind not in kinds]
        kinds.update(new)
    return [each for each in gc.get_objects() if type(each) in kinds]


def children_of(module):
    """Direct children and parameters, read past the properties and hooks of the job's classes."""
    fields = getattr(module, "__dict__", None) or {}
    children, parameters = fields.get("_modules"), fields.get("_parameters")
    return (children if isinstance(children, dict) else {}, parameters if isinstance(parameters, dict) else {})


def buffers_of(module):
    found = (getattr(module, "__dict__", None) or {}).get("_buffers")
    return found if isinstance(found, dict) else {}


def root_modules(modules):
    inner = {id(child) for each in modules for child in children_of(each)[0].values() if child is not None}
    return [each for each in modules if id(each) not in inner]


def is_wrapper(module, child_name):
    """Whether the child's name is a wrapper's and no part of the model: DDP's `module`, and the like."""
    if child_name in WRAPPERS:
        return True
    children, parameters = children_of(module)
    return child_name == "module" and len(children) == 1 and not parameters


def walk(root):
    """(path, module, modules around it) of all modules below a root, each once, in the order of their registration."""
    seen, waiting = set(), [("", root, ())]
    while waiting:
        path, module, around = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield path, module, around
        below = []
        for name, child in children_of(module)[0].items():
            if child is not None:
                below.append((path if is_wrapper(module, name) else join(path, name), child, around + (module,)))
        waiting.extend(reversed(below))


def join(path, name):
    return f"{path}.{name}" if path else name


def owners_below(root):
    """Owner of each parameter below a root, by the parameter's identity. A second name of one is a tied one."""
    owners = {}
    for path, module, around in walk(root):
        for name, parameter in children_of(module)[1].items():
            if parameter is None:
                continue
            known = owners.get(id(parameter))
            if known is None:
                owners[id(parameter)] = Owner(join(path, name), parameter, module, around + (module,))
            elif join(path, name) != known.name:
                known.tied.append(join(path, name))
    return owners


def buffers_below(root):
    return [
        Buffer(path, key, module, around + (module,))
        for path, module, around in walk(root)
        for key, value in buffers_of(module).items()
        if value is not None
    ]


def look_again():
    """Finds the modules of the process anew; their flat parameters too."""
    global looks
    if looks >= MOST_LOOKS:
        return
    looks += 1
    roots = root_modules(all_modules())
    ROOTS[:] = [Root(each) for each in roots]
    FLAT.clear()
    for root in roots:
        FLAT.update(flat_pieces(root))


def find_owners(parameters):
    """Owners of parameters by their identity; of the root that holds most of them first, so the same on every rank."""
    if any(all(id(each) not in root.find([each]) for root in ROOTS) for each in parameters):
        look_again()
    found = [(root.find(parameters), root) for root in ROOTS]
    found.sort(key=lambda entry: (-len(entry[0]), -len(entry[1].owners), entry[1].name))
    chosen = {}
    for owners, root in found:
        new = {key: owner for key, owner in owners.items() if key not in chosen}
        settle_names(new, root.name)
        chosen.update(new)
    return chosen


def settle_names(owners, root_name):
    """Parameters of different models must not share a name: the later model's begin with its class then."""
    prefix, number = "", 1
    while any(is_taken(join(prefix, owner.name), owner) for owner in owners.values()):
        prefix = root_name if number == 1 else f"{root_name}{number}"
        number += 1
    for owner in owners.values():
        owner.name = join(prefix, owner.name)
        NAMES[owner.name] = owner.parameter


def is_taken(name, owner):
    other = NAMES[name]() if name in NAMES else None
    return other is not None and other is not owner.parameter()
