# Functions of the job's libraries that we stand in for, so that a probe sees what they are given and what they return.
#
# A stand-in changes nothing: same arguments, same result, same exception; what goes wrong in a probe is told as a fact.
# torch.compile and torch.jit see the function itself.
import functools
import threading
import types

INSIDE = threading.local()  # names of the stand-ins that the thread is inside of
MOST_COMPLAINTS = 5
complaints = 0


def apply(packed):
    """What `run_guarded` runs: a function of ours and its arguments. Its result, None when it fails."""
    global complaints
    function, *arguments = packed
    try:
        with unseen():
            return function(*arguments)
    except Exception as error:
        complaints += 1
        if complaints <= MOST_COMPLAINTS:
            fact(f"probes.error.{complaints}", f"{function.__name__}: {type(error).__name__}: {error}"[:300])
    return None


def stand_in(original, name, before, after):
    """A function in front of `original`. `before(arguments, keywords)` gives (arguments, keywords, note) to go on with,
    or None; `after(note, result)` sees what came of it. Inner calls of stand-ins of the same name are left alone."""
    is_compiling = loaded("torch.compiler").is_compiling

    def call(*arguments, **keywords):
        if is_compiling() or window_step() < 0 or name in getattr(INSIDE, "names", ()):
            return original(*arguments, **keywords)
        names = INSIDE.names = getattr(INSIDE, "names", None) or set()
        names.add(name)
        try:
            seen = run_guarded(before, arguments, keywords)
            note = None
            if seen is not None:
                arguments, keywords, note = seen
            result = original(*arguments, **keywords)
            run_guarded(after, note, result)
            return result
        finally:
            names.discard(name)

    call = functools.wraps(original)(call)
    # How torch.jit knows a function that stands for another one.
    call.__script_if_tracing_wrapper = True
    call.__original_fn = original
    return call


def owner_of(path):
    """(object, attribute) of a function path, as far as the modules in it have been imported; else None."""
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        owner = loaded(".".join(parts[:length]))
        if owner is None:
            continue
        for part in parts[length:-1]:
            owner = getattr(owner, part, None)
        return None if owner is None or not callable(getattr(owner, parts[-1], None)) else (owner, parts[-1])
    return None


def put_stand_in(path, name, before, after):
    """Puts a stand-in in place of a function, also where modules have it under a name of their own. False while its
    module has not been imported."""
    found = owner_of(path)
    if found is None:
        return False
    owner, attribute = found
    original = owner.__dict__.get(attribute, None) if isinstance(owner, type) else getattr(owner, attribute)
    if isinstance(original, classmethod) or original is None:
        return True
    if isinstance(original, staticmethod):
        setattr(owner, attribute, staticmethod(stand_in(original.__func__, name, before, after)))
        return True
    standing = stand_in(original, name, before, after)
    setattr(owner, attribute, standing)
    for module in list(sys.modules.values()):
        if not isinstance(module, types.ModuleType):
            continue
        fields = object.__getattribute__(module, "__dict__")
        for key in [key for key, value in list(fields.items()) if value is original]:
            fields[key] = standing
    return True
