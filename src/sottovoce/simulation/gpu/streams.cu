// Step-addressed randomness, as defined in simulation/streams.py and compiled in simulation/kernels.py:
// the same words, the same edge, and, compiled without fused multiply-adds, the same bits of each draw.

typedef unsigned int u32;
typedef unsigned long long u64;

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011).
__device__ __forceinline__ uint4 philox(u64 position, u32 replica, u32 domain, u64 seed) {
    u32 c0 = (u32)position, c1 = (u32)(position >> 32), c2 = replica, c3 = domain;
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const u32 high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
        const u32 high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

// The edge a block chooses: floor(w m / 2^64); accept and alias are null when edges are equally likely.
__device__ __forceinline__ u64 edge_of(const uint4 &words, u64 num_edges, const double *accept, const long long *alias) {
    const u64 w = (u64)words.x | ((u64)words.y << 32);
    const u64 edge = __umul64hi(w, num_edges);
    if (accept != nullptr) {
        const double rest = (double)((w * num_edges) >> 11) * 0x1p-53;
        if (rest >= accept[edge]) return (u64)alias[edge];
    }
    return edge;
}

// Two standard normals by Box and Muller, with the polynomials of simulation/kernels.py.
__device__ __forceinline__ double2 normal_pair(u32 radius_word, u32 angle_word) {
    const double u = ((double)radius_word + 0.5) * 0x1p-32;
    const u64 shifted = (u64)__double_as_longlong(u) + (0x3FF0000000000000ull - 0x3FE6A09E667F3BCDull);
    const double exponent = (double)(int)(shifted >> 52) - 1023.0;
    const double mantissa = __longlong_as_double((long long)((shifted & 0x000FFFFFFFFFFFFFull) + 0x3FE6A09E667F3BCDull));
    const double s = (mantissa - 1.0) / (mantissa + 1.0);
    const double q = s * s, q2 = q * q;
    const double series =
        ((1.0 + q * 0x1.55555555555aep-2) + q2 * (0x1.999999997aeaap-3 + q * 0x1.2492494513f76p-3)) +
        q2 * q2 * ((0x1.c71c50004ffddp-4 + q * 0x1.7466994f20a7cp-4) + q2 * (0x1.3999bf614de60p-4 + q * 0x1.2f4d88c4fad06p-4));
    const double radius = sqrt(-2.0 * (exponent * 0.6931471805599453 + 2.0 * s * series));
    const u32 quarter = angle_word >> 30;
    const double angle =
        ((double)(angle_word & 0x3FFFFFFFu) - (536870912.0 - 0.5)) * (1.5707963267948966 * 0x1p-30);
    const double z = angle * angle, z2 = z * z;
    const double sine =
        angle * (((1.0 + z * -0x1.5555555555543p-3) + z2 * (0x1.111111110f3dcp-7 + z * -0x1.a01a019ba956dp-13)) +
                 z2 * z2 * ((0x1.71de3530aa14dp-19 + z * -0x1.ae5e37e850d20p-26) + z2 * 0x1.5d87699eb6a31p-33));
    const double cosine =
        ((1.0 + z * -0.5) + z2 * (0x1.5555555555536p-5 + z * -0x1.6c16c16c13a05p-10)) +
        z2 * z2 * ((0x1.a01a019b1e24dp-16 + z * -0x1.27e4f727f10b7p-22) + z2 * (0x1.1ee96d0192650p-29 + z * -0x1.8f762711e61e0p-37));
    double first = radius * ((quarter & 1u) ? sine : cosine);
    double second = radius * ((quarter & 1u) ? cosine : sine);
    if (((quarter + 1u) >> 1) & 1u) first = -first;
    if (quarter >> 1) second = -second;
    return make_double2(first, second);
}

// a + b and what rounding lost of it (Knuth).
__device__ __forceinline__ void two_sum(double &total, double &lost, double term) {
    const double raised = total + term, part = raised - total;
    lost += (total - (raised - part)) + (term - part);
    total = raised;
}
