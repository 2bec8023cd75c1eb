# FSDP1: parameters that are stretches of a flat one.
#
# A piece is one original parameter in the tensor that an optimizer sees: its name, its place, and the stretch (first
# element, count) of the flat tensor, or None where the optimizer sees the original parameter itself, cut and flattened.


class Piece:
    __slots__ = ("name", "place", "stretch", "module", "shape", "detail")

    def __init__(self, name, place, stretch=None, module=None, shape=None):
        self.name, self.place, self.stretch, self.module, self.shape = name, place, stretch, module, shape


FLAT = {}  # pieces by the identity of the tensor that an optimizer may have, as of the last look


def shard_peers(module, handle):
    """Global ranks whose shard equals this one's: all for NO_SHARD, those of the other nodes for the hybrid ones."""
    if not handle.uses_sharded_strategy:
        return tuple(sorted(group_ranks(handle.process_group)))
    between = getattr(module, "_inter_node_pg", None)
    if between is not None:
        return tuple(sorted(group_ranks(between)))
    return (loaded("torch.distributed").get_rank(),)


def piece_of(handle, path, index, text, peers):
    flat = handle.flat_param
    name = flat._fqns[index]
    shape = tuple(flat._shapes[index])
    size = 1
    for extent in shape:
        size *= extent
    info = flat._shard_param_infos[index]
    first = info.intra_param_start_idx if info.in_shard else size
    count = info.numel_in_shard if info.in_shard else 0
    offset = info.offset_in_shard if info.in_shard else 0
    parts = [part for part in name.split(".") if part not in WRAPPERS]
    place = (text, (size,), (first,), peers)
    owner = class_name(flat._param_infos[index].module)
    return Piece(join(path, ".".join(parts)), place, (offset, count), owner, shape)


def flat_pieces(root):
    """Pieces of all flat parameters below a root; of the flat parameter, and of each original one."""
    kind = getattr(loaded("torch.distributed.fsdp"), "FullyShardedDataParallel", None)
    found = {}
    if kind is None:
        return found
    for path, module, _ in walk(root):
        handle = getattr(module, "_handle", None) if isinstance(module, kind) else None
        if handle is None:
            continue
        flat, peers = handle.flat_param, shard_peers(module, handle)
        text = str(getattr(handle, "_sharding_strategy", "FSDP"))
        pieces = [piece_of(handle, path, index, text, peers) for index in range(len(flat._fqns))]
        found[id(flat)] = pieces
        for original, piece in zip(getattr(flat, "_params", None) or (), pieces):
            found[id(original)] = [Piece(piece.name, piece.place, None, piece.module, piece.shape)]
    return found
