# Settings and other small values of the job as JSON, without running its code.
import json
import sys


def loaded(name):
    """A module that the job has imported, else None. Nothing is ever imported for it."""
    return sys.modules.get(name)


def plain_number(value):
    """A float that JSON can say: NaN and the infinities become texts."""
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value


def plain(value, depth=0):
    """What JSON can say of a value; None where it is no plain one."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return plain_number(value)
    if kind in (tuple, list) and depth < 4 and len(value) <= 64:
        return [plain(each, depth + 1) for each in value]
    if kind is dict and depth < 4 and len(value) <= 64:
        return {str(key): plain(each, depth + 1) for key, each in value.items()}
    number = number_of(value)
    return None if number is None else plain_number(number)


def is_plain(value):
    return value is None or plain(value) is not None


def as_json(value):
    return json.dumps(value, separators=(",", ":"))


def class_name(value):
    return type(value).__name__
