"""The plumbline command as a user meets it."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
import launch  # noqa: E402

COMMAND = os.environ["ADAPTER_TEST_COMMAND"]

TRAIN = """
import sys, time, torch
weight = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    weight.sum().backward()
    optimizer.step()
print("trained", sys.argv[1:], flush=True)
time.sleep(float(sys.argv[1]))
"""


class Command(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp()
        self.script = os.path.join(self.place, "train.py")
        with open(self.script, "w") as file:
            file.write(TRAIN)

    def tearDown(self):
        shutil.rmtree(self.place)

    def call(self, *arguments, command=COMMAND, **variables):
        return subprocess.run([command, *arguments], capture_output=True, text=True, cwd=self.place,
                              env=launch.environment(**variables), timeout=600)

    def run_directories(self):
        return [name for name in os.listdir(self.place) if name.startswith("plumbline-run-")]

    def test_run_passes_everything_on(self):
        done = self.call("run", "--", sys.executable, self.script, "0", "--level", "x", "--")
        self.assertEqual((done.returncode, done.stdout), (0, "trained ['0', '--level', 'x', '--']\n"))
        (directory,) = self.run_directories()
        self.assertIn(f"plumbline: recording into {self.place}/{directory}", done.stderr)
        doctor = self.call("doctor", directory)
        self.assertEqual(doctor.returncode, 0, doctor.stdout)
        self.assertIn("optimizer steps: fired 3 times (with settings)", doctor.stdout)

    def test_run_keeps_the_exit_status(self):
        self.assertEqual(self.call("run", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.call("run", "--", "plumbline-no-such-program").returncode, 127)
        self.assertEqual(self.call("run", "--", "/etc/passwd").returncode, 126)

    def test_run_leaves_nothing_behind_for_a_program_that_does_not_train(self):
        self.call("run", "--", "sh", "-c", "ls / > /dev/null")
        self.assertEqual(self.run_directories(), [])

    def test_run_puts_the_run_where_it_is_told(self):
        self.call("run", "--dir", os.path.join(self.place, "here"), "--", sys.executable, self.script, "0")
        self.assertEqual(len(os.listdir(os.path.join(self.place, "here"))), 1)
        exact = os.path.join(self.place, "exactly")
        self.call("run", "--", sys.executable, self.script, "0", PLUMBLINE_RUN=exact)
        self.assertTrue(os.listdir(exact))

    def test_run_without_an_adapter_still_runs_the_job(self):
        empty = os.path.join(self.place, "cache")
        done = self.call("run", "--", sys.executable, self.script, "0", PLUMBLINE_CACHE=empty, CXX="/bin/false")
        self.assertEqual((done.returncode, done.stdout), (0, "trained ['0']\n"))
        self.assertIn("could not compile the adapter", done.stderr)

    def test_run_without_the_preload_object_still_runs_the_job(self):
        alone = shutil.copy(COMMAND, os.path.join(self.place, "plumbline"))
        done = self.call("run", "--", "echo", "fine", command=alone)
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"))
        self.assertIn("the job runs unrecorded", done.stderr)

    def test_a_copied_program_builds_the_adapter(self):
        alone = shutil.copy(COMMAND, os.path.join(self.place, "plumbline"))
        done = self.call("build-adapter", "--python", sys.executable, command=alone)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(done.stdout.strip()))

    def test_usage(self):
        for wrong in ([], ["run"], ["run", "--"], ["run", "--level", "loud", "--", "true"], ["nonsense"],
                      ["build-adapter", "--python", "/nonexistent"], ["doctor", "/nonexistent"]):
            self.assertEqual(self.call(*wrong).returncode, 2, wrong)
        self.assertEqual(self.call("--help").returncode, 0)

    def test_doctor_finds_this_machine_fine(self):
        done = self.call("doctor", "--python", sys.executable)
        self.assertEqual(done.returncode, 0, done.stdout)
        for subject in ("preload object", "disk", "python", "torch", "adapter"):
            self.assertIn(f"ok    {subject}: ", done.stdout)

    def test_doctor_looks_into_a_process(self):
        job = subprocess.Popen([COMMAND, "run", "--", sys.executable, self.script, "600"], cwd=self.place,
                               env=launch.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.assertTrue(job.stdout.readline().startswith("trained"))
            done = self.call("doctor", str(job.pid))
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("ok    recording: into ", done.stdout)
            self.assertIn("ok    adapter: ", done.stdout)
        finally:
            job.send_signal(signal.SIGKILL)
            job.wait()
            job.stdout.close()
        (directory,) = self.run_directories()
        self.assertIn("killed", self.call("doctor", directory).stdout)

    def test_doctor_says_why_a_process_is_not_recorded(self):
        job = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"]})
        try:
            time.sleep(0.2)
            done = self.call("doctor", str(job.pid))
            self.assertEqual(done.returncode, 1)
            self.assertIn("not started under Plumbline", done.stdout)
        finally:
            job.kill()
            job.wait()


if __name__ == "__main__":
    unittest.main()
