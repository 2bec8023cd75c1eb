"""Collectives on two real gloo ranks under the preload object: each record says what the job says it called."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "jobs"))
import launch  # noqa: E402

COMMAND = os.environ["ADAPTER_TEST_COMMAND"]
READER = os.environ["ADAPTER_TEST_READER"]

def run_job(directory):
    environment = launch.environment(PLUMBLINE_RUN=os.path.join(directory, "run"), CUDA_VISIBLE_DEVICES="")
    subprocess.run([COMMAND, "run", "--python", sys.executable, "--", sys.executable, "-m", "torch.distributed.run",
                    "--standalone", "--nproc-per-node", "2", os.path.join(HERE, "every_collective.py"), directory],
                   env=environment, check=True, timeout=300)


def dump(directory):
    done = subprocess.run([READER, "dump", os.path.join(directory, "run")], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Collectives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        run_job(cls.place.name)
        cls.lines = dump(cls.place.name)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def called(self, rank):
        with open(os.path.join(self.place.name, f"called-{rank}.json")) as file:
            return json.load(file)

    def recorded(self, rank):
        return [line for line in self.lines if line.get("kind") == "collective" and line["rank"] == rank]

    def groups(self, rank):
        return {line["group"]: line for line in self.lines if line["record"] == "group" and line["rank"] == rank}

    def test_every_call_is_recorded_with_its_arguments_and_no_other(self):
        for rank in (0, 1):
            called, recorded, groups = self.called(rank), self.recorded(rank), self.groups(rank)
            self.assertEqual([call["op"] for call in called], [record["op"] for record in recorded])
            for call, record in zip(called, recorded):
                expected = dict(call)
                self.assertEqual(groups[record["group"]]["description"], expected.pop("group"))
                if "uneven" in expected:
                    self.assertEqual("splits_hash" in record, expected.pop("uneven"))
                self.assertEqual({key: record.get(key) for key in expected}, expected, f"rank {rank}")

    def test_the_ranks_agree_on_uneven_exchanges(self):
        calls = [[r for r in self.recorded(rank) if "splits_hash" in r] for rank in (0, 1)]
        self.assertEqual([len(c) for c in calls], [1, 1])

    def test_sequence_numbers_count_per_group_and_apart_for_point_to_point(self):
        for rank in (0, 1):
            counters = {}
            for record in self.recorded(rank):
                key = (record["group"], record["op"] in ("send", "recv", "recv_any_source"))
                self.assertEqual(record["seq"], counters.get(key, 0))
                counters[key] = record["seq"] + 1

    def test_groups_have_their_ranks(self):
        for rank in (0, 1):
            groups = {group["description"]: group for group in self.groups(rank).values()}
            self.assertEqual(groups["default_pg"]["ranks"], [0, 1])
            self.assertEqual(groups[f"alone {rank}"]["ranks"], [rank])
            self.assertEqual((groups["both"]["size"], groups["both"]["backend"]), (2, "gloo"))


if __name__ == "__main__":
    unittest.main()
