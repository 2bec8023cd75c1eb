#!/usr/bin/env python3
"""generate_hooks_test.py [NCCL_HEADER]: with the header, also compares the committed table with what it yields."""

import pathlib
import re
import sys
import unittest

import generate_hooks

HERE = pathlib.Path(__file__).parent
HEADER = None

TINY_HEADER = """
#define NCCL_MAJOR 3
#define NCCL_MINOR 1
#define NCCL_PATCH 4
typedef struct ncclComm* ncclComm_t;
typedef struct { char internal[128]; } ncclUniqueId;
typedef struct ncclThing_v1 { int a; long b; } ncclThing_t;
typedef enum { ncclSuccess = 0 } ncclResult_t;
typedef enum { ncclInt8 = 0 } ncclDataType_t;
/* ncclResult_t ncclInAComment(int x); */
ncclResult_t  ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
    ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
    ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclFromTheFuture(ncclComm_t comm, const char * name, float ratio, int ranks[4], ncclThing_t* thing);
ncclResult_t ncclByValue(ncclComm_t comm, ncclThing_t thing);
const char* ncclGetErrorString(ncclResult_t result);
ncclResult_t ncclNoArguments(void);
__attribute__ ((deprecated("ncclOld(x); is old")))
void ncclOld();
"""


class TinyHeader(unittest.TestCase):
    def setUp(self):
        self.files = generate_hooks.generate(TINY_HEADER)
        self.wrappers = self.files["nccl_wrappers.inc"]

    def test_every_public_function_is_exported_once_and_twins_are_not(self):
        names = ["ncclAllReduce", "ncclFromTheFuture", "ncclGetErrorString", "ncclNoArguments", "ncclOld"]
        self.assertEqual(self.files["nccl.exports"].split(), names)
        self.assertEqual(re.findall(r"X\((\w+)\)", self.files["nccl_names.inc"]), [name[4:] for name in names])

    def test_the_version_is_named(self):
        self.assertIn("PLUMBLINE_NCCL_HEADER_VERSION 30104", self.files["nccl_names.inc"])
        self.assertIn("NCCL 3.1.4", self.wrappers)

    def test_a_known_collective_is_described(self):
        self.assertIn(
            "return collective(kAllReduce, PLUMBLINE_SITE, {.op = Op::kAllReduce, .send = sendbuff, .recv = recvbuff, "
            ".count = count, .datatype = datatype, .comm = comm, .stream = stream}, "
            "sendbuff, recvbuff, count, datatype, comm, stream);",
            self.wrappers,
        )

    def test_an_unknown_function_is_only_forwarded(self):
        self.assertIn(
            "int ncclFromTheFuture(void* comm, const char* name, float ratio, void* ranks, void* thing) noexcept {\n"
            "  return forward<int>(kFromTheFuture, PLUMBLINE_SITE, comm, name, ratio, ranks, thing);",
            self.wrappers,
        )

    def test_an_unknown_structure_by_value_leaves_the_function_alone(self):
        self.assertIn("// ncclByValue is not hooked: it takes ncclThing_t by value.", self.wrappers)
        self.assertNotIn("int ncclByValue", self.wrappers)

    def test_results_keep_their_type(self):
        self.assertIn("const char* ncclGetErrorString(int result) noexcept", self.wrappers)
        self.assertIn("void ncclOld() noexcept", self.wrappers)

    def test_a_file_that_is_no_nccl_header_is_refused(self):
        with self.assertRaises(SystemExit):
            generate_hooks.generate("int main(void);")


class CommittedTable(unittest.TestCase):
    def test_every_name_of_the_tables_is_a_function(self):
        exported = (HERE / "nccl.exports").read_text().split()
        for name in [*generate_hooks.COLLECTIVES, *generate_hooks.SPECIAL]:
            self.assertIn(name, exported)

    def test_the_header_yields_the_committed_table(self):
        if HEADER is None:
            return
        text = HEADER.read_text()
        major, minor, patch = generate_hooks.header_version(text)
        generated = generate_hooks.generate(text)
        if f"VERSION {major * 10000 + minor * 100 + patch}\n" not in (HERE / "nccl_names.inc").read_text():
            return  # another version: the build makes its own table, or keeps the committed one
        for name, content in generated.items():
            self.assertEqual((HERE / name).read_text(), content, name)

    def test_the_header_has_no_function_that_is_left_out(self):
        if HEADER is None:
            return
        text = HEADER.read_text()
        twins = set(re.findall(r"\bp(nccl\w+)\s*\(", generate_hooks.strip_comments(text)))
        twins = {name for name in twins if re.search(rf"\bp{name}\s*\([^;]*\)\s*;", text)}
        functions, left_alone = generate_hooks.parse(text)
        names = {function.name for function in functions} | {name for name, _ in left_alone}
        self.assertEqual(twins - names, set())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        HEADER = pathlib.Path(sys.argv.pop(1))
    unittest.main()
