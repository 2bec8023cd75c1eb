"""Calls every collective of torch.distributed once, on two gloo ranks, and writes down what it called."""
import datetime
import json
import os
import sys
import time

import torch
import torch.distributed as dist

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
CALLS = []


def called(op, count_in, count_out, group="default_pg", **more):
    CALLS.append(dict(op=op, count_in=count_in, count_out=count_out, group=group, **more))


def root_only(count, root):
    return count if RANK == root else 0


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
    ones = lambda *shape, **options: torch.ones(*shape, **options)
    peer = 1 - RANK

    dist.all_reduce(ones(3, 5))
    called("all_reduce", 15, 15, dtype="float32", reduce_op="sum")
    dist.all_reduce(ones(7, dtype=torch.int64), op=dist.ReduceOp.MAX)
    called("all_reduce", 7, 7, dtype="int64", reduce_op="max")
    dist.all_reduce(ones(0))
    called("all_reduce", 0, 0, dtype="float32", reduce_op="sum")
    dist.all_reduce(torch.sparse_coo_tensor([[1, 3]], [1.0, 2.0], (8,)))
    called("all_reduce", 8, 8, reduce_op="sum")
    dist.all_reduce_coalesced([ones(2), ones(3)])
    called("all_reduce_coalesced", 5, 5, tensors_in=2, dtype="float32", reduce_op="sum")
    dist.reduce(ones(4, dtype=torch.float64), dst=1, op=dist.ReduceOp.PRODUCT)
    called("reduce", 4, root_only(4, 1), peer=1, dtype="float64", reduce_op="prod")
    dist.broadcast(ones(6, dtype=torch.bfloat16), src=1)
    called("broadcast", root_only(6, 1), 6, peer=1, dtype="bfloat16")
    dist.all_gather([ones(3) for _ in range(SIZE)], ones(3))
    called("all_gather", 3, 3 * SIZE, tensors_in=1, tensors_out=SIZE, dtype="float32")
    dist.all_gather_into_tensor(ones(3 * SIZE), ones(3))
    called("all_gather_base", 3, 3 * SIZE, dtype="float32")
    dist.reduce_scatter(ones(2), [ones(2) for _ in range(SIZE)])
    called("reduce_scatter", 2 * SIZE, 2, dtype="float32", reduce_op="sum")
    dist.reduce_scatter_tensor(ones(2), ones(2 * SIZE))
    called("reduce_scatter_base", 2 * SIZE, 2, dtype="float32", reduce_op="sum")
    dist.gather(ones(5), [ones(5) for _ in range(SIZE)] if RANK == 0 else None, dst=0)
    called("gather", 5, root_only(5 * SIZE, 0), peer=0, dtype="float32")
    dist.scatter(ones(5), [ones(5) for _ in range(SIZE)] if RANK == 1 else None, src=1)
    called("scatter", root_only(5 * SIZE, 1), 5, peer=1, dtype="float32")
    dist.all_to_all_single(ones(4), ones(4))
    called("all_to_all_base", 4, 4, dtype="float32", uneven=False)
    dist.all_to_all_single(ones(4), ones(4), [1, 3] if RANK == 0 else [3, 1], [1, 3] if RANK == 0 else [3, 1])
    called("all_to_all_base", 4, 4, dtype="float32", uneven=True)
    if RANK == 0:
        dist.send(ones(9, dtype=torch.uint8), dst=1, tag=5)
        called("send", 9, 0, peer=1, tag=5, dtype="uint8")
        dist.recv(ones(2, dtype=torch.int32), src=1)
        called("recv", 0, 2, peer=1, dtype="int32")
        dist.recv(ones(3), tag=8)
        called("recv_any_source", 0, 3, tag=8, dtype="float32")
    else:
        dist.recv(ones(9, dtype=torch.uint8), src=0, tag=5)
        called("recv", 0, 9, peer=0, tag=5, dtype="uint8")
        dist.send(ones(2, dtype=torch.int32), dst=0)
        called("send", 2, 0, peer=0, dtype="int32")
        dist.send(ones(3), dst=0, tag=8)
        called("send", 3, 0, peer=0, tag=8, dtype="float32")
    dist.barrier()
    called("barrier", 0, 0)
    dist.monitored_barrier()
    called("monitored_barrier", 0, 0)

    pair = dist.new_group([1, 0], group_desc="both")
    dist.all_reduce(ones(11), group=pair)
    called("all_reduce", 11, 11, group="both")
    alone = [dist.new_group([rank], group_desc=f"alone {rank}") for rank in range(SIZE)]
    dist.all_reduce(ones(13), group=alone[RANK])
    called("all_reduce", 13, 13, group=f"alone {RANK}")
    dist.barrier()
    called("barrier", 0, 0)

    with open(os.path.join(sys.argv[1], f"called-{RANK}.json"), "w") as file:
        json.dump(CALLS, file)
    dist.destroy_process_group()
    time.sleep(0.3)


if __name__ == "__main__":
    main()
