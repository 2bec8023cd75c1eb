"""Silent faults of copies and parts of a model that no wrapper declares: see cases.py for what is looked at.

    check_parallel.py --python PYTHON --shim libplumbline.so --run-reader run-reader [--write docs/faults_parallel.md]
"""

import os
import tempfile

import cases

PAGE = """# Silent faults of copies and shards that the checks are tried on

Small trainings on two ranks (gloo, CPU), one after the other in one launch, recorded at level `diagnose` with a template that says of
`gate.weight` that it is a copy; see `tests/faults/parallel.py` for each. No wrapper of PyTorch declares anything here. The table is made
by `tests/faults/check_parallel.py --write docs/faults_parallel.md`, and the test `fault.parallel` checks each cell again.

| training | check | caught at step | cause named | margin |
|---|---|---|---|---|
"""
TEMPLATE = """
[replicas]
"gate.weight" = "default_pg"
"**.gate.weight" = "default_pg"
"""

if __name__ == "__main__":
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as template:
        template.write(TEMPLATE)
        template.flush()
        cases.run("parallel", PAGE, ("optimizer", "replicas"), {"PLUMBLINE_TEMPLATE": os.path.abspath(template.name)})
