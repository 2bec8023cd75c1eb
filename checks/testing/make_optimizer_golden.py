"""Makes optimizer_golden.txt: three steps of every optimizer of PyTorch that the check knows, as PyTorch itself does
them. Run it with the PyTorch whose formulas the rules follow:  python make_optimizer_golden.py > optimizer_golden.txt

Lines: `case NAME CLASS GROUP-JSON`, `step N`, and `tensor PROBE NAME DTYPE SHAPE HEX`."""
import json
import sys

import torch


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if "exp_avg" not in state:
                    state["exp_avg"] = torch.zeros_like(p)
                p.mul_(1 - group["lr"] * group["weight_decay"])
                update = state["exp_avg"] * beta1 + p.grad * (1 - beta1)
                p.add_(update.sign_(), alpha=-group["lr"])
                state["exp_avg"].mul_(beta2).add_(p.grad, alpha=1 - beta2)


NAMES = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16", torch.float64: "float64"}
SHAPES = {"w": (2, 4), "b": (3,)}
FAST = [dict(foreach=False), dict(foreach=True), dict(fused=True)]
SLOW = FAST[:2]


def cases():
    o = torch.optim
    for how in FAST:
        yield o.SGD, dict(lr=0.1, **how)
        yield o.SGD, dict(lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.01, **how)
        yield o.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, maximize=True, **how)
        for kind in (o.Adam, o.AdamW):
            yield kind, dict(lr=1e-2, **how)
            yield kind, dict(lr=1e-3, weight_decay=0.1, amsgrad=True, maximize=True, betas=(0.8, 0.95), **how)
        yield o.Adagrad, dict(lr=0.05, lr_decay=0.1, weight_decay=0.01, initial_accumulator_value=0.1, **how)
    for how in SLOW:
        yield o.RMSprop, dict(lr=1e-2, **how)
        yield o.RMSprop, dict(lr=1e-2, centered=True, momentum=0.9, weight_decay=0.1, **how)
        yield o.NAdam, dict(lr=2e-3, weight_decay=0.1, decoupled_weight_decay=True, **how)
        yield o.NAdam, dict(lr=2e-3, weight_decay=0.1, **how)
        yield o.RAdam, dict(lr=1e-2, betas=(0.9, 0.5), weight_decay=0.1, **how)
        yield o.RAdam, dict(lr=1e-2, weight_decay=0.1, decoupled_weight_decay=True, **how)
        yield o.Adafactor, dict(lr=1e-2, weight_decay=0.1, **how)
    yield o.Muon, dict(lr=1e-2, weight_decay=0.1)
    yield o.Muon, dict(lr=1e-2, nesterov=False, adjust_lr_fn="match_rms_adamw")
    yield Lion, dict(lr=1e-3, weight_decay=0.1)


def put(probe, name, value):
    if not torch.is_tensor(value):
        value = torch.tensor(value, dtype=torch.float64)
    raw = value.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
    print("tensor", probe, name, NAMES[value.dtype], ",".join(map(str, value.shape)) or "-", raw.hex())


def record(kind, settings, dtype):
    torch.manual_seed(3)
    names = ["w"] if kind.__name__ == "Muon" else list(SHAPES)
    params = [torch.nn.Parameter((torch.randn(SHAPES[n]) * 0.1).to(dtype)) for n in names]
    optimizer = kind(params, **settings)
    group = {k: v for k, v in optimizer.param_groups[0].items() if k != "params"}
    label = f"{kind.__name__}:{NAMES[dtype]}:" + ",".join(f"{k}={v}" for k, v in settings.items()).replace(" ", "")
    print("case", label, kind.__name__, json.dumps({"settings": group, "params": names}, separators=(",", ":")))
    for step in range(3):
        print("step", step)
        for name, p in zip(names, params):
            p.grad = (torch.randn(p.shape) * 10.0 ** (step - 2)).to(dtype)
            put("grad", name, p.grad)
            put("param.before", name, p)
            for key, value in optimizer.state[p].items():
                if value is not None:
                    put(f"state.{key}.before", name, value)
        optimizer.step()
        for name, p in zip(names, params):
            put("param.after", name, p)
            for key, value in optimizer.state[p].items():
                if value is not None:
                    put(f"state.{key}.after", name, value)


print(f"# torch {torch.__version__}")
for kind, settings in cases():
    for dtype in (torch.float32, torch.bfloat16) if kind.__name__ not in ("Adam", "SGD") else NAMES:
        # Here PyTorch 2.11 overwrites the momentum buffer: Newton-Schulz divides its bfloat16 argument in place.
        if kind.__name__ == "Muon" and dtype == torch.bfloat16 and not settings.get("nesterov", True):
            continue
        try:
            record(kind, settings, dtype)
        except (RuntimeError, ValueError) as refused:
            print(f"{kind.__name__} {settings} {dtype}: {refused}", file=sys.stderr)
