// Many replicas of a small graph: one thread per replica and coordinate, its nodes in shared memory.
//
// Tables are laid out [field][node][thread], in shared and in global memory, so that the threads of a
// warp touch neighbouring words whatever nodes their edges join. Draws for UNROLL steps are made before they are used:
// they do not depend on each other, and few threads fit a multiprocessor, so this is what hides latency.
//
// Set by the host: NODES, THREADS, UNROLL, NOISY (0 or 1), SHARED (0 or 1), UNIFORM (all edges equally likely).

#define NEGLIGIBLE 0x1p-511  // amplitudes below this are zero; see methods/noise_insertion.py

extern "C" __global__ void __launch_bounds__(THREADS)
advance(double *values, double *outstanding, double *amplitude, const double *decay, const int2 *edges, u64 num_edges,
        const double *accept, const long long *alias, u64 first, u64 last, u64 seed, u32 threads, u32 coordinates,
        u32 first_replica) {
    const u32 thread = blockIdx.x * THREADS + threadIdx.x;
    if (thread >= threads) return;
#if SHARED
    extern __shared__ double table[];
    double *x = table + threadIdx.x, *u = x + NODES * THREADS, *a = u + NODES * THREADS;
    const u64 stride = THREADS;
    for (int node = 0; node < NODES; ++node) {
        x[node * stride] = values[(u64)node * threads + thread];
#if NOISY
        u[node * stride] = outstanding[(u64)node * threads + thread];
        a[node * stride] = amplitude[(u64)node * threads + thread];
#endif
    }
#else
    double *x = values + thread, *u = outstanding + thread, *a = amplitude + thread;
    const u64 stride = threads;
#endif
    const u32 replica = first_replica + thread / coordinates, coordinate = thread % coordinates;
    for (u64 step = first; step < last; step += UNROLL) {
        int2 ends[UNROLL];
        double2 draws[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            uint4 words = philox(step + k, replica, 0u, seed);
#if UNIFORM
            ends[k] = edges[edge_of(words, num_edges, nullptr, nullptr)];
#else
            ends[k] = edges[edge_of(words, num_edges, accept, alias)];
#endif
#if NOISY
            if (coordinate > 0) words = philox(step + k, replica, coordinate, seed);
            draws[k] = normal_pair(words.z, words.w);
#endif
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (step + k >= last) break;
            const u64 i = ends[k].x * stride, j = ends[k].y * stride;
#if NOISY
            const double amplitude_i = a[i], amplitude_j = a[j];
            const double fresh_i = amplitude_i * draws[k].x, fresh_j = amplitude_j * draws[k].y;
            const double shown_i = x[i] + (fresh_i - u[i]), shown_j = x[j] + (fresh_j - u[j]);
            const double average = 0.5 * (shown_i + shown_j);
            u[i] = fresh_i;
            u[j] = fresh_j;
            const double next_i = amplitude_i * decay[ends[k].x], next_j = amplitude_j * decay[ends[k].y];
            a[i] = next_i >= NEGLIGIBLE ? next_i : 0.0;
            a[j] = next_j >= NEGLIGIBLE ? next_j : 0.0;
#else
            const double average = 0.5 * (x[i] + x[j]);
#endif
            x[i] = average;
            x[j] = average;
        }
    }
#if SHARED
    for (int node = 0; node < NODES; ++node) {
        values[(u64)node * threads + thread] = x[node * stride];
#if NOISY
        outstanding[(u64)node * threads + thread] = u[node * stride];
        amplitude[(u64)node * threads + thread] = a[node * stride];
#endif
    }
#endif
}

// Per thread: sum of (x - mean)^2, and sum of x minus outstanding noise; compensated.
extern "C" __global__ void measure(const double *values, const double *outstanding, const double *mean, double *squared,
                                   double *mass, u32 threads, u32 coordinates, u32 num_nodes) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= threads) return;
    double total = 0.0, total_lost = 0.0, held = 0.0, held_lost = 0.0;
    for (u32 node = 0; node < num_nodes; ++node) {
        const double x = values[(u64)node * threads + thread];
        const double off = x - mean[thread % coordinates];
        two_sum(total, total_lost, off * off);
        two_sum(held, held_lost, outstanding == nullptr ? x : x - outstanding[(u64)node * threads + thread]);
    }
    squared[thread] = total + total_lost;
    mass[thread] = held + held_lost;
}
