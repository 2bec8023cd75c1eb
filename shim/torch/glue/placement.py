# Which block of the whole tensor a rank holds, and which ranks hold the same one.
#
# A place is (placement in the job's words, global shape, offset of the block, ranks with the same block); empty tuples
# where a part is not known.
NOWHERE = ("", (), (), ())


def is_dtensor(tensor):
    module = loaded("torch.distributed.tensor") or loaded("torch.distributed._tensor")
    kind = getattr(module, "DTensor", None)
    return kind is not None and isinstance(tensor, kind)


def local_part(tensor):
    """The tensor that this rank holds of it."""
    return tensor._local_tensor if is_dtensor(tensor) else tensor


def group_ranks(group):
    distributed = loaded("torch.distributed")
    return tuple(distributed.get_process_group_ranks(group))


def mesh_peers(mesh, placements):
    """Global ranks that hold the same block: those that differ from this one in replicated dimensions only."""
    if any(not (each.is_replicate() or is_sharded(each)) for each in placements):
        return ()
    ranks = [mesh.mesh.tolist()]
    for coordinate, placement in zip(mesh.get_coordinate(), placements):
        if placement.is_replicate():
            ranks = [each for part in ranks for each in part]
        else:
            ranks = [part[coordinate] for part in ranks]
    return tuple(sorted(ranks))


def is_sharded(placement):
    return hasattr(placement, "dim")


def block_of(shape, mesh, placements):
    """(shape, offset) of this rank's block. Torch cuts as torch.chunk does: the last ranks may have less, or nothing."""
    utilities = loaded("torch.distributed.tensor._utils")
    compute = getattr(utilities, "compute_local_shape_and_global_offset", None)
    if compute is not None:
        local, offset = compute(shape, mesh, placements)
        return tuple(local), tuple(offset)
    local, offset = list(shape), [0] * len(shape)
    for index, placement in enumerate(placements):
        if not is_sharded(placement):
            continue
        dim, parts = placement.dim, mesh.size(index)
        size = -(-local[dim] // parts)
        first = min(size * mesh.get_coordinate()[index], local[dim])
        offset[dim] += first
        local[dim] = min(size, local[dim] - first)
    return tuple(local), tuple(offset)


def dtensor_place(tensor):
    mesh, placements = tensor.device_mesh, tuple(tensor.placements)
    text = str(placements)
    if mesh.get_coordinate() is None:
        return (text, (), (), ())
    shape = tuple(tensor.shape)
    local, offset = block_of(shape, mesh, placements)
    if local != tuple(tensor._local_tensor.shape):
        return (text, (), (), ())
    # An empty block begins at the end of the whole.
    offset = tuple(min(each, size) for each, size in zip(offset, shape))
    return (text, shape, offset, mesh_peers(mesh, placements))


def place_beside(tensor, parameter, place):
    """(place, stretch) of a gradient or state that is a DTensor, beside its parameter. One that is whole on each rank, as
    that of a vocabulary which the ranks divide by rows, is looked at in the parameter's rows: a step takes no others."""
    _, shape, offset, _ = place
    rows = tuple(local_part(parameter).shape)
    whole = is_dtensor(parameter) and all(each.is_replicate() for each in tensor.placements)
    if whole and tensor.device_mesh == parameter.device_mesh and shape and shape == tuple(tensor.shape):
        if rows != shape and rows[1:] == shape[1:]:
            return place, (offset[0], rows[0])
    return dtensor_place(tensor), None


def ddp_place(owner):
    """Of a plain parameter below a DistributedDataParallel: a copy on each rank of its group."""
    module = owner.replicated_by() if owner.replicated_by is not None else None
    if module is None or owner.name in getattr(module, "parameters_to_ignore", ()):
        return NOWHERE
    return ("replicated", (), (), tuple(sorted(group_ranks(module.process_group))))


def place_of(tensor, owner):
    if is_dtensor(tensor):
        return dtensor_place(tensor)
    return ddp_place(owner) if owner is not None else NOWHERE


def buffer_place(buffer, tensor):
    """A copy on each rank below a wrapper that gives the ranks parts of one batch."""
    if is_dtensor(tensor):
        return dtensor_place(tensor)
    if buffer.replicated_by is not None:
        return ddp_place(buffer)
    ranks = ranks_of_batch([buffer])
    return ("replicated", (), (), tuple(ranks)) if ranks else NOWHERE


def divides_batch(module):
    """A wrapper whose ranks each take a part of one batch."""
    package = loaded("torch.distributed.fsdp")
    kinds = [getattr(package, name, None) for name in ("FullyShardedDataParallel", "FSDPModule")]
    return is_ddp(module) or any(kind is not None and isinstance(module, kind) for kind in kinds)


def batch_ranks(module):
    """Global ranks that have parts of one batch with this one, as far as a wrapper's own groups tell."""
    state = getattr(module, "_get_fsdp_state", None)
    if state is None:
        groups = [getattr(module, name, None) for name in ("process_group", "_inter_node_pg")]
    else:
        mesh = getattr(getattr(state(), "_fsdp_param_group", None), "mesh_info", None)
        groups = [getattr(mesh, name, None) for name in ("shard_process_group", "replicate_process_group")]
    return {rank for group in groups if group is not None for rank in group_ranks(group)}


def ranks_of_batch(owners):
    """The same, of all wrappers around some parameters."""
    modules = {id(module): module for owner in owners for each in owner.sharers if (module := each()) is not None}
    return sorted(set().union(*(batch_ranks(module) for module in modules.values())))
