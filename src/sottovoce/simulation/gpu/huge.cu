// One huge graph in exactly sequential order.
//
// A batch of consecutive steps is worked off in passes. Every pending step claims both its ends with
// atomicMin; a step whose claim stands at both ends is the earliest pending one there, so all that happened
// before it at these nodes is done, and it may be applied; the others wait for the next pass. A claim is
// (passes left before a reset, step within the batch), so that claims of a later pass are always smaller than those of
// an earlier one and nothing has to be cleared in between.
//
// Per node: value and outstanding noise (16 bytes), claim and activations (8 bytes). Edges are stored (smaller
// end first) or implicit: edge e = k n + i then joins i and i + offsets[k] (mod n), as in graphs.Circulant.

#ifndef MAX_OFFSETS
#define MAX_OFFSETS 64
#endif

__constant__ u64 offsets[MAX_OFFSETS];

struct Graph {
    u64 num_nodes, num_edges;
    const int2 *edges;  // null: implicit
    const double *accept;
    const long long *alias;
};

__device__ __forceinline__ ulonglong2 ends_of(const uint4 &words, const Graph &graph) {
    const u64 edge = edge_of(words, graph.num_edges, graph.accept, graph.alias);
    if (graph.edges != nullptr) {
        const int2 pair = graph.edges[edge];
        return make_ulonglong2((u64)pair.x, (u64)pair.y);
    }
    const u64 k = edge / graph.num_nodes, i = edge - k * graph.num_nodes;
    u64 j = i + offsets[k];
    if (j >= graph.num_nodes) j -= graph.num_nodes;
    return i < j ? make_ulonglong2(i, j) : make_ulonglong2(j, i);
}

// Private values uniform on [0, 1): the words at position = node of purpose 1.
extern "C" __global__ void start(double2 *state, uint2 *meta, u64 num_nodes, u64 seed) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < num_nodes; i += (u64)gridDim.x * blockDim.x) {
        const uint4 words = philox(i, 0u, 1u << 24, seed);
        const u64 w = (u64)words.x | ((u64)words.y << 32);
        state[i] = make_double2((double)(w >> 11) * 0x1p-53, 0.0);
        meta[i] = make_uint2(0xFFFFFFFFu, 0u);
    }
}

extern "C" __global__ void clear_claims(uint2 *meta, u64 num_nodes) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < num_nodes; i += (u64)gridDim.x * blockDim.x)
        meta[i].x = 0xFFFFFFFFu;
}

extern "C" __global__ void claim(const u32 *pending, u32 count, u32 base, uint2 *meta, u64 num_nodes, u64 num_edges,
                                 const int2 *edges, const double *accept, const long long *alias, u64 first, u64 seed) {
    const Graph graph = {num_nodes, num_edges, edges, accept, alias};
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count) return;
    const u32 step = pending == nullptr ? index : pending[index];
    const ulonglong2 ends = ends_of(philox(first + step, 0u, 0u, seed), graph);
    atomicMin(&meta[ends.x].x, base | step);
    atomicMin(&meta[ends.y].x, base | step);
}

extern "C" __global__ void apply(const u32 *pending, u32 count, u32 base, double2 *state, uint2 *meta, u32 *next,
                                 u32 *next_count, const double *amplitudes, u32 num_amplitudes, u64 num_nodes,
                                 u64 num_edges, const int2 *edges, const double *accept, const long long *alias,
                                 u64 first, u64 seed) {
    const Graph graph = {num_nodes, num_edges, edges, accept, alias};
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    bool waits = false;
    u32 step = 0;
    if (index < count) {
        step = pending == nullptr ? index : pending[index];
        const uint4 words = philox(first + step, 0u, 0u, seed);
        const ulonglong2 ends = ends_of(words, graph);
        const uint2 meta_i = meta[ends.x], meta_j = meta[ends.y];
        waits = meta_i.x != (base | step) || meta_j.x != (base | step);
        if (!waits) {
            const double2 node_i = state[ends.x], node_j = state[ends.y];
            const double2 draws = normal_pair(words.z, words.w);
            const double amplitude_i = meta_i.y < num_amplitudes ? amplitudes[meta_i.y] : 0.0;
            const double amplitude_j = meta_j.y < num_amplitudes ? amplitudes[meta_j.y] : 0.0;
            const double fresh_i = amplitude_i * draws.x, fresh_j = amplitude_j * draws.y;
            const double shown_i = node_i.x + (fresh_i - node_i.y), shown_j = node_j.x + (fresh_j - node_j.y);
            const double average = 0.5 * (shown_i + shown_j);
            state[ends.x] = make_double2(average, fresh_i);
            state[ends.y] = make_double2(average, fresh_j);
            meta[ends.x].y = meta_i.y + 1u;
            meta[ends.y].y = meta_j.y + 1u;
        }
    }
    const u32 waiting = __ballot_sync(0xFFFFFFFFu, waits);
    if (waiting == 0u) return;
    const u32 lane = threadIdx.x & 31u;
    u32 place = 0;
    if (lane == 0u) place = atomicAdd(next_count, __popc(waiting));
    place = __shfl_sync(0xFFFFFFFFu, place, 0) + __popc(waiting & ((1u << lane) - 1u));
    if (waits) next[place] = step;
}

struct Sums { double total, total_lost, held, held_lost; };

// Per block: sum of (x - mean)^2 and of x - u, compensated; the host adds the blocks exactly.
extern "C" __global__ void measure(const double2 *state, u64 num_nodes, double mean, Sums *partial) {
    __shared__ Sums parts[256];
    double total = 0.0, total_lost = 0.0, held = 0.0, held_lost = 0.0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < num_nodes; i += (u64)gridDim.x * blockDim.x) {
        const double2 node = state[i];
        const double off = node.x - mean;
        two_sum(total, total_lost, off * off);
        two_sum(held, held_lost, node.x - node.y);
    }
    parts[threadIdx.x] = {total, total_lost, held, held_lost};
    __syncthreads();
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            Sums mine = parts[threadIdx.x];
            const Sums other = parts[threadIdx.x + half];
            two_sum(mine.total, mine.total_lost, other.total);
            mine.total_lost += other.total_lost;
            two_sum(mine.held, mine.held_lost, other.held);
            mine.held_lost += other.held_lost;
            parts[threadIdx.x] = mine;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = parts[0];
}
