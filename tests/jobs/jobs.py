"""The real jobs that run under Plumbline: how each is launched and what its trace must hold."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Job:
    script: str
    arguments: tuple = ()
    launcher: str = "torchrun"  # torchrun, python (no launcher), hosts (two network namespaces), memray
    torchrun: tuple = ()  # further options of torchrun
    environment: dict = field(default_factory=dict)
    ranks: int = 2
    traces: int = 2  # processes that leave a trace, over all attempts
    seconds: int = 120


JOBS = {
    "ddp": Job("train_ddp.py"),
    "ddp_fused_accumulate": Job("train_ddp.py", ("--optimizer", "fused", "--accumulate", "2")),
    "ddp_zero": Job("train_ddp.py", ("--optimizer", "zero")),
    "ddp_muon": Job("train_ddp.py", ("--optimizer", "muon")),
    "ddp_compile": Job("train_ddp.py", ("--compile", "--steps", "3"), seconds=300),
    "fsdp2": Job("train_fsdp2.py"),
    "tensor_parallel": Job("train_tensor_parallel.py"),
    "pipeline": Job("train_pipeline.py"),
    "expert_parallel": Job("train_expert_parallel.py"),
    "context_parallel": Job("train_context_parallel.py"),
    "hf_trainer": Job("train_hf_trainer.py", environment={"HF_HUB_OFFLINE": "1"}),
    "plain": Job("train_plain.py", launcher="python", ranks=1, traces=1),
    "loader_fork": Job("train_plain.py", ("--loader", "fork"), launcher="python", ranks=1, traces=1),
    "loader_spawn": Job("train_plain.py", ("--loader", "spawn"), launcher="python", ranks=1, traces=1),
    "spawn": Job("train_spawn.py", launcher="python"),
    "restart": Job(
        "train_restart.py",
        torchrun=("--max-restarts", "1"),
        environment={"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"},
        traces=4,
    ),
    "two_hosts": Job("train_ddp.py", launcher="hosts"),
    "profiler": Job("train_plain.py", ("--profile",), launcher="python", ranks=1, traces=1),
    "memray": Job("train_plain.py", launcher="memray", ranks=1, traces=1),
}
