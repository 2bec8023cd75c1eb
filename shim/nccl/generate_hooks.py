#!/usr/bin/env python3
"""Writes the table of NCCL hooks from an nccl.h.

    generate_hooks.py /usr/include/nccl.h shim/nccl      # rewrites the three generated files in shim/nccl

nccl_names.inc     the NCCL version and an X-macro over the functions: their hook numbers
nccl_wrappers.inc  one exported wrapper a function, which hands its arguments to a template of hook.hpp
nccl.exports       the names, for the version script of the preload object

The wrappers use no type of nccl.h, so the result builds where there is no CUDA toolkit: pointers and handles become
void*, enums become int. A function that the tables below do not know is forwarded unrecorded; one that takes an unknown
struct by value cannot be forwarded without its header, and is left alone: its callers then reach NCCL directly.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

# What is called, for functions that move data. Counts, roots and buffers are found by the names of the parameters.
COLLECTIVES = {
    "ncclAllReduce": "kAllReduce",
    "ncclReduce": "kReduce",
    "ncclBcast": "kBroadcast",
    "ncclBroadcast": "kBroadcast",
    "ncclAllGather": "kAllGather",
    "ncclReduceScatter": "kReduceScatter",
    "ncclAlltoAll": "kAllToAll",
    "ncclGather": "kGather",
    "ncclScatter": "kScatter",
    "ncclSend": "kSend",
    "ncclRecv": "kRecv",
}

# Field of NcclCall ← names that NCCL gives to the parameter.
CALL_FIELDS = {
    "send": ("sendbuff", "buff"),
    "recv": ("recvbuff", "buff"),
    "count": ("count", "sendcount", "recvcount"),
    "datatype": ("datatype",),
    "reduce": ("op",),
    "peer": ("root", "peer"),
    "comm": ("comm",),
    "stream": ("stream",),
}

# Functions with a template of their own in hook.hpp, which takes their arguments as they are.
SPECIAL = {
    "ncclGroupStart": "group_start",
    "ncclGroupEnd": "group_end",
    "ncclGroupSimulateEnd": "group_end",
    "ncclCommInitRank": "comm_init_rank",
    "ncclCommInitRankConfig": "comm_init_rank",
    "ncclCommInitRankScalable": "comm_init_scalable",
    "ncclCommInitAll": "comm_init_all",
    "ncclCommSplit": "comm_split",
    "ncclCommShrink": "comm_shrink",
    "ncclCommFinalize": "comm_end<CommEvent::kFinalize>",
    "ncclCommDestroy": "comm_end<CommEvent::kDestroy>",
    "ncclCommAbort": "comm_end<CommEvent::kAbort>",
    "ncclCommRevoke": "comm_end<CommEvent::kRevoke>",
    "ncclCommGetAsyncError": "async_error",
}

PLAIN_TYPES = {
    "void": "void",
    "int": "int",
    "unsigned": "unsigned",
    "unsigned int": "unsigned",
    "float": "float",
    "double": "double",
    "bool": "bool",
    "size_t": "std::size_t",
    "uint32_t": "std::uint32_t",
    "uint64_t": "std::uint64_t",
    "int64_t": "std::int64_t",
    "ncclUniqueId": "NcclUniqueId",
    "cudaStream_t": "void*",
}


@dataclasses.dataclass
class Function:
    name: str
    result: str
    parameters: list  # (type, name)


class UnknownType(Exception):
    pass


def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", " ", text)


def header_version(text):
    parts = [re.search(rf"^\s*#\s*define\s+NCCL_{part}\s+(\d+)", text, re.M) for part in ("MAJOR", "MINOR", "PATCH")]
    if not all(parts):
        raise SystemExit("no NCCL_MAJOR, NCCL_MINOR and NCCL_PATCH in the header")
    return tuple(int(part.group(1)) for part in parts)


def own_types(text):
    """Handles and enums that the header declares itself."""
    types = dict(PLAIN_TYPES)
    for name in re.findall(r"typedef\s+struct\s+\w+\s*\*\s*(\w+)\s*;", text):
        types[name] = "void*"
    for name in re.findall(r"typedef\s+enum\s*\w*\s*\{[^}]*\}\s*(\w+)\s*;", text):
        types[name] = "int"
    return types


def plain_type(declared, types):
    declared = re.sub(r"\b(struct|enum)\s+", "", declared).strip()
    if "*" in declared or declared.endswith("]"):
        constant = declared.count("*") == 1 and re.match(r"const\b", declared)
        if declared == "const char*":
            return declared
        return "const void*" if constant else "void*"
    declared = re.sub(r"\bconst\b", "", declared).strip()
    if declared not in types:
        raise UnknownType(declared)
    return types[declared]


def split_parameter(declaration, position):
    """'const void* sendbuff' → ('const void*', 'sendbuff')."""
    declaration = re.sub(r"\s+", " ", declaration).strip()
    array = re.match(r"(.+?) ?(\w+) ?\[[^\]]*\]$", declaration)
    if array:
        return array.group(1) + "*", array.group(2)
    match = re.match(r"(.*[\s*])(\w+)$", declaration)
    if not match or declaration in PLAIN_TYPES:
        return declaration, f"argument{position}"
    return re.sub(r"\s*\*\s*", "*", match.group(1)).strip(), match.group(2)


def parse(text):
    """The public functions of the header in its order, and the names of those that cannot be wrapped, with reasons."""
    text = strip_comments(text)
    types = own_types(text)
    text = re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.M | re.S)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*(?=\w)", "", text, flags=re.S)
    functions, left_alone = [], []
    pattern = r"(?P<result>const\s+char\s*\*|\b[A-Za-z_]\w*)\s+(?P<name>nccl[A-Z]\w*)\s*\((?P<parameters>[^()]*)\)\s*;"
    for match in re.finditer(pattern, text):
        result = re.sub(r"\s*\*", "*", re.sub(r"\s+", " ", match.group("result")))
        declarations = [d for d in match.group("parameters").split(",") if d.strip() not in ("", "void")]
        try:
            parameters = []
            for position, declaration in enumerate(declarations):
                declared, name = split_parameter(declaration, position)
                parameters.append((plain_type(declared, types), name))
            functions.append(Function(match.group("name"), plain_type(result, types), parameters))
        except UnknownType as unknown:
            left_alone.append((match.group("name"), f"takes {unknown} by value"))
    return functions, left_alone


def body(function):
    arguments = "".join(f", {name}" for _, name in function.parameters)
    number = "k" + function.name[len("nccl"):]
    names = [name for _, name in function.parameters]
    if function.name in COLLECTIVES:
        fields = [f".op = Op::{COLLECTIVES[function.name]}"]
        for field, candidates in CALL_FIELDS.items():
            found = [name for name in candidates if name in names]
            if found:
                fields.append(f".{field} = {found[0]}")
        return f"return collective({number}, PLUMBLINE_SITE, {{{', '.join(fields)}}}{arguments});"
    if function.name in SPECIAL:
        return f"return {SPECIAL[function.name]}({number}, PLUMBLINE_SITE{arguments});"
    return f"return forward<{function.result}>({number}, PLUMBLINE_SITE{arguments});"


def banner(version):
    dotted = ".".join(str(part) for part in version)
    return f"// Generated by shim/nccl/generate_hooks.py from the nccl.h of NCCL {dotted}: regenerate, don't edit.\n"


def names_file(version, functions):
    lines = [banner(version), "// clang-format off\n\n"]
    lines.append(f"#define PLUMBLINE_NCCL_HEADER_VERSION {version[0] * 10000 + version[1] * 100 + version[2]}\n\n")
    lines.append("#define PLUMBLINE_NCCL_FUNCTIONS(X)")
    lines += [f" \\\n  X({function.name[len('nccl'):]})" for function in functions]
    return "".join(lines) + "\n"


def wrappers_file(version, functions, left_alone):
    lines = [banner(version), "// clang-format off\n"]
    lines += [f"// {name} is not hooked: it {reason}.\n" for name, reason in left_alone]
    for function in functions:
        parameters = ", ".join(f"{declared} {name}" for declared, name in function.parameters)
        lines.append(f"\nPLUMBLINE_EXPORT {function.result} {function.name}({parameters}) noexcept {{\n")
        lines.append(f"  {body(function)}\n}}\n")
    return "".join(lines)


def exports_file(functions):
    return "".join(f"{function.name}\n" for function in functions)


def generate(text):
    """File name → content, for the text of an nccl.h."""
    version = header_version(text)
    functions, left_alone = parse(text)
    if not functions:
        raise SystemExit("no public NCCL function in the header")
    return {
        "nccl_names.inc": names_file(version, functions),
        "nccl_wrappers.inc": wrappers_file(version, functions, left_alone),
        "nccl.exports": exports_file(functions),
    }


def main(arguments):
    parser = argparse.ArgumentParser(description="Writes the table of NCCL hooks from an nccl.h.")
    parser.add_argument("header", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path, help="where the three generated files go")
    options = parser.parse_args(arguments)
    for name, content in generate(options.header.read_text()).items():
        (options.directory / name).write_text(content)


if __name__ == "__main__":
    main(sys.argv[1:])
