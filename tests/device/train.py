"""A small deterministic DDP job on one GPU. Prints each loss to the last bit, and how many steps it took."""

import torch
import torch.distributed as dist

STEPS = 20


def main():
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True)
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29572", rank=0, world_size=1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 8)).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        inputs = torch.randn(32, 64, device="cuda")
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item().hex())
    dist.destroy_process_group()
    print(STEPS, "steps")


main()
