"""Allocates on the GPU, and once too much. Prints the caching allocator's own counts, as JSON."""

import json

import torch

TOO_MUCH = 1 << 50


def main():
    kept = [torch.empty(size << 20, dtype=torch.uint8, device="cuda") for size in (1, 30, 200)]
    for _ in range(100):
        kept.append(torch.empty(5000, device="cuda"))
        kept.append(torch.empty(700, device="cuda"))
        kept.pop()
    try:
        torch.empty(TOO_MUCH, dtype=torch.uint8, device="cuda")
        raise SystemExit("a request that must fail did not")
    except torch.OutOfMemoryError:
        pass
    kept.clear()
    torch.cuda.empty_cache()
    stats = torch.cuda.memory_stats()
    print(
        json.dumps(
            {
                "blocks": stats["allocation.all.allocated"],
                "block_frees": stats["allocation.all.freed"],
                "device_allocations": stats["num_device_alloc"],
                "device_frees": stats["num_device_free"],
                "too_much": TOO_MUCH,
            }
        )
    )


main()
