"""One rank, real NCCL: collectives, and some of them in a CUDA graph. Prints what it called, as JSON."""

import json

import torch
import torch.distributed as dist

REPLAYS = 5


def main():
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29571", rank=0, world_size=1)
    called = dict.fromkeys(["all_reduce", "broadcast", "all_gather", "reduce_scatter"], 0)
    values = torch.arange(1000, dtype=torch.float32, device="cuda")
    result = torch.empty_like(values)
    for count in range(1, 4):
        for _ in range(count):
            dist.all_reduce(values)
            called["all_reduce"] += 1
        dist.broadcast(values, 0)
        called["broadcast"] += 1
        dist.all_gather_into_tensor(result, values)
        called["all_gather"] += 1
        dist.reduce_scatter_tensor(result, values)
        called["reduce_scatter"] += 1
    torch.cuda.synchronize()
    assert torch.equal(result, torch.arange(1000, dtype=torch.float32, device="cuda"))

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dist.all_reduce(values)
    called["all_reduce"] += 1
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    dist.destroy_process_group()
    print(json.dumps({"nccl": called, "captured": 1, "graph_launches": REPLAYS}))


main()
