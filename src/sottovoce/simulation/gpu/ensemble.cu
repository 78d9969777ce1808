// Many replicas of a small graph: one thread per replica and coordinate, its nodes in shared memory.
//
// Tables are laid out [field][node][thread], in shared and in global memory, so that the threads of a
// warp touch neighbouring words whatever nodes their edges join. Draws for UNROLL steps are made before they are used:
// they do not depend on each other, and few threads fit a multiprocessor, so this is what hides latency.
//
// A thread records by itself: at the steps in rows it sums over its nodes. A thread that is to stop at a wanted error
// carries the sum of squares from step to step, as simulation/recording.py does, and stops at the first step at which
// it is small enough.
//
// Set by the host: NODES, THREADS, UNROLL, NOISY (0 or 1), SHARED (0 or 1), UNIFORM (all edges equally likely),
// WATCHING (0 or 1: stop at a wanted error), and CARRYING, FALL, LONGEST, NEGLIGIBLE as the CPU has them.

#define GOING 0xFFFFFFFFFFFFFFFFull  // in stops: has not stopped

struct Sums { double squared, squared_lost, mass, mass_lost; };

// Sum of (x - mean)^2, and sum of x minus outstanding noise; compensated.
__device__ __forceinline__ Sums sums_of(const double *x, const double *u, u64 stride, u32 num_nodes, double mean) {
    Sums sums = {0.0, 0.0, 0.0, 0.0};
    for (u32 node = 0; node < num_nodes; ++node) {
        const double value = x[node * stride], off = value - mean;
        two_sum(sums.squared, sums.squared_lost, off * off);
        two_sum(sums.mass, sums.mass_lost, u == nullptr ? value : value - u[node * stride]);
    }
    return sums;
}

// The sum of squares of a thread that watches it.
struct Watch {
    double total, lost, largest;
    u64 since;
    bool carrying;

    // Two terms go and two others come.
    __device__ __forceinline__ void exchange(double out_i, double out_j, double in_i, double in_j) {
        double gone = out_i, gone_lost = 0.0, come = in_i, come_lost = 0.0, rounding = 0.0;
        two_sum(gone, gone_lost, out_j);
        two_sum(come, come_lost, in_j);
        two_sum(total, rounding, -gone);
        two_sum(total, rounding, come);
        lost += (come_lost - gone_lost) + rounding;
        largest = max(largest, total);
    }

    // The error after a step, summed anew where the carried sum is not good enough.
    __device__ __forceinline__ double after(u64 step, const double *x, u64 stride, double mean) {
        if (!carrying || !(total * FALL >= largest && step - since <= LONGEST)) {
            const Sums sums = sums_of(x, nullptr, stride, NODES, mean);
            total = sums.squared;
            lost = sums.squared_lost;
            largest = total;
            since = step;
            carrying = CARRYING < NODES;
        }
        return total + lost;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
advance(double *values, double *outstanding, double *amplitude, const double *decay, const int2 *edges, u64 num_edges,
        const double *accept, const long long *alias, u64 first, u64 last, u64 seed, u32 threads, u32 coordinates,
        const double *means, const u64 *rows, u32 num_rows, double *squared, double *mass, double wanted, u64 *stops) {
    const u32 thread = blockIdx.x * THREADS + threadIdx.x;
    if (thread >= threads) return;
#if WATCHING
    if (stops[thread] != GOING) return;
    Watch watch = {0.0, 0.0, 0.0, 0, false};
#endif
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
    const u32 replica = thread / coordinates, coordinate = thread % coordinates;
    const double mean = means[coordinate];
    u64 stop = GOING, from = first;
#if WATCHING
    if (first == 0 && watch.after(0, x, stride, mean) <= wanted) stop = 0;
    watch.carrying = false;  // as the CPU: summed anew after the first step
#endif
    for (u32 row = 0; row <= num_rows; ++row) {
        const u64 until = row < num_rows ? rows[row] : last;
        for (u64 step = from; step < until && stop == GOING; step += UNROLL) {
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
                if (step + k >= until) break;
                const u64 i = ends[k].x * stride, j = ends[k].y * stride;
#if WATCHING
                const double out_i = (x[i] - mean) * (x[i] - mean), out_j = (x[j] - mean) * (x[j] - mean);
#endif
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
#if WATCHING
                const double in = (average - mean) * (average - mean);
                if (watch.carrying) watch.exchange(out_i, out_j, in, in);
                if (watch.after(step + k + 1, x, stride, mean) <= wanted) {
                    stop = step + k + 1;
                    break;
                }
#endif
            }
        }
        from = until;
        if (row < num_rows && (stop == GOING || stop == until)) {
            const Sums sums = sums_of(x, NOISY ? u : nullptr, stride, NODES, mean);
            squared[(u64)row * threads + thread] = sums.squared + sums.squared_lost;
            mass[(u64)row * threads + thread] = sums.mass + sums.mass_lost;
        }
        if (stop != GOING) break;
    }
#if WATCHING
    stops[thread] = stop;
#endif
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

// The same sums of every thread where it is.
extern "C" __global__ void measure(const double *values, const double *outstanding, const double *means,
                                   double *squared, double *mass, u32 threads, u32 coordinates) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= threads) return;
    const Sums sums = sums_of(values + thread, outstanding == nullptr ? nullptr : outstanding + thread, threads, NODES,
                              means[thread % coordinates]);
    squared[thread] = sums.squared + sums.squared_lost;
    mass[thread] = sums.mass + sums.mass_lost;
}
