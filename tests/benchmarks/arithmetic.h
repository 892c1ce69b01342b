/* Random numbers and functions for games.c, in the same operations as dp_bandit_envs/draws.py, where they are in Python. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define HALF_STEP 0x1p-54

/* Step Doty-Humphrey's SFC64, whose four words are `stride` words apart. */
INLINE uint64_t next_word(uint64_t *words, int stride) {
    const uint64_t a = words[0], b = words[stride], c = words[2 * stride], counter = words[3 * stride];
    const uint64_t word = a + b + counter;
    words[0] = b ^ (b >> 11);
    words[stride] = c + (c << 3);
    words[2 * stride] = ((c << 24) | (c >> 40)) + word;
    words[3 * stride] = counter + 1;
    return word;
}

/* A word as a double, rounded once. Without AVX-512 no vector instruction does it; its halves fit into mantissas. */
INLINE double to_double(uint64_t word) {
#ifdef __AVX512DQ__
    return (double)word;
#else
    const uint64_t upper = (word >> 32) | 0x4530000000000000, lower = (word & 0xFFFFFFFF) | 0x4330000000000000;
    double high, low;
    memcpy(&high, &upper, 8);
    memcpy(&low, &lower, 8);
    return (high - (0x1p84 + 0x1p52)) + low;
#endif
}

INLINE double next_double(uint64_t *words, int stride) {
    const uint64_t word = next_word(words, stride) >> 11;
    return (stride == 1 ? (double)(int64_t)word : to_double(word)) * (1.0 / 9007199254740992.0);
}

/* A word as a number in (0, 1] with a sign, without a branch; see signed_uniform in dp_bandit_envs/draws.py. */
INLINE double with_sign(uint64_t word) {
    const uint64_t sign = word >> 63;
    const double v = to_double(2 * (word ^ -sign) + 1) * 0x1p-64;
    uint64_t bits;
    double with_it;
    memcpy(&bits, &v, 8);
    bits |= (1 - sign) << 63;
    memcpy(&with_it, &bits, 8);
    return with_it;
}

INLINE double next_signed(uint64_t *words, int stride) { return with_sign(next_word(words, stride)); }

/* e^r - 1 for r up to ln(2) / 2 in size. */
INLINE double rise_to(double r) {
    const double s = r * r;
    const double even = (((2.7620088445409746e-07 * s + 2.4801521295954376e-05) * s + 0.0013888888917213717) * s) +
                        0.04166666666662413;
    const double odd = (((2.510038549551032e-08 * s + 2.7557268459997064e-06) * s + 0.00019841269863053618) * s) +
                       0.008333333333330062;
    return r + s * ((0.5 + s * even) + r * (0.16666666666666669 + s * odd));
}

/* r with x = k ln 2 + r, for x from -707 to 709; 2^k in `power`. */
INLINE double reduced(double x, double *power) {
    const double rounder = 1.5 * 4503599627370496.0;
    const double k = x * 1.4426950408889634 + rounder - rounder, low_bits = k + (rounder + 1023.0);
    uint64_t bits;
    memcpy(&bits, &low_bits, 8);
    bits <<= 52;
    memcpy(power, &bits, 8);
    return (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
}

/* e^x for x up to 709, and 0 below -707. */
INLINE double exponential(double x) {
    double power;
    const double r = reduced(x < -707.0 ? -707.0 : x, &power);
    return x < -707.0 ? 0.0 : (1.0 + rise_to(r)) * power;
}

/* e^x - 1 for x up to 709. */
INLINE double exponential_minus_1(double x) {
    double power;
    if (x < -40.0) return -1.0;
    const double r = reduced(x, &power);
    return (power - 1.0) + power * rise_to(r);
}

/* ln x for x from 2^-1022 on. */
INLINE double logarithm(double x) {
    const double high = 0.6931471803691238, low = 1.9082149292705877e-10;
    uint64_t bits;
    double m;
    memcpy(&bits, &x, 8);
    double k = to_double(bits >> 52) - 1022.0;
    bits = (bits & 0x000FFFFFFFFFFFFF) | 0x3FE0000000000000;
    memcpy(&m, &bits, 8);
    if (m < 0.7071067811865476) {
        m += m;
        k -= 1.0;
    }
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    const double odd =
        ((0.14616585424888623 * w + 0.18182889455674947) * w + 0.2857142862600327) * w + 0.666666666666667;
    const double even = (0.15331710618210773 * w + 0.22222211130259878) * w + 0.39999999999899444;
    const double rest = z * odd + w * even;
    return k * high - ((half - (s * (half + rest) + k * low)) - f);
}

/* ln (1 + x) for x above -1. */
INLINE double logarithm_of_1_and(double x) {
    const double total = 1.0 + x, lost = x - (total - 1.0);
    return logarithm(total) + lost / total;
}

INLINE double laplace(double v, double scale) {
    const double wait = scale * logarithm(fabs(v));
    return v < 0.0 ? wait : -wait;
}

INLINE double on_grid(double number, double grid) {
    const double shift = 6755399441055744.0 * grid;
    return number + shift - shift;
}

/* The number beyond which a standard normal draw has probability |v| / 2, with the sign of v; Wichura (1988). */
INLINE double normal_quantile(double v) {
    const double share = 0.5 * fabs(v), q = 0.5 - share;
    double r, top, low;
    if (q <= 0.425) {
        r = 0.180625 - q * q;
        top = 2509.0809287301226727 * r + 33430.575583588128105;
        top = ((top * r + 67265.770927008700853) * r + 45921.953931549871457) * r + 13731.693765509461125;
        top = ((top * r + 1971.5909503065514427) * r + 133.14166789178437745) * r + 3.387132872796366608;
        low = 5226.495278852545925 * r + 28729.085735721942674;
        low = ((low * r + 39307.89580009271061) * r + 21213.794301586595867) * r + 5394.1960214247511077;
        low = ((low * r + 687.1870074920579083) * r + 42.313330701600911252) * r + 1.0;
        return copysign(q * top / low, v);
    }
    r = sqrt(-logarithm(share));
    if (r <= 5.0) {
        r -= 1.6;
        top = 7.7454501427834140764e-4 * r + 0.0227238449892691845833;
        top = ((top * r + 0.24178072517745061177) * r + 1.27045825245236838258) * r + 3.64784832476320460504;
        top = ((top * r + 5.7694972214606914055) * r + 4.6303378461565452959) * r + 1.42343711074968357734;
        low = 1.05075007164441684324e-9 * r + 5.475938084995344946e-4;
        low = ((low * r + 0.0151986665636164571966) * r + 0.14810397642748007459) * r + 0.68976733498510000455;
        low = ((low * r + 1.6763848301838038494) * r + 2.05319162663775882187) * r + 1.0;
    } else {
        r -= 5.0;
        top = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5;
        top = ((top * r + 0.0012426609473880784386) * r + 0.026532189526576123093) * r + 0.29656057182850489123;
        top = ((top * r + 1.7848265399172913358) * r + 5.4637849111641143699) * r + 6.6579046435011037772;
        low = 2.04426310338993978564e-15 * r + 1.4215117583164458887e-7;
        low = ((low * r + 1.8463183175100546818e-5) * r + 7.868691311456132591e-4) * r + 0.0148753612908506148525;
        low = ((low * r + 0.13692988092273580531) * r + 0.59983220655588793769) * r + 1.0;
    }
    return copysign(top / low, v);
}

INLINE double standard_exponential(uint64_t *words) {
    const double half = 0.5 * next_signed(words, 1);
    return 0.0 - logarithm(half > 0.0 ? half : 1.0 + half);
}

/* A gamma draw for a shape of at least 1; Marsaglia and Tsang (2000). */
INLINE double standard_gamma(uint64_t *words, double shape) {
    if (shape == 1.0) return standard_exponential(words);
    const double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        const double x = normal_quantile(next_signed(words, 1)), root = 1.0 + c * x;
        if (root <= 0.0) continue;
        const double v = root * root * root, u = next_double(words, 1);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x)) return d * v;
        if (logarithm(fmax(u, HALF_STEP)) < 0.5 * x * x + d * (1.0 - v + logarithm(v))) return d * v;
    }
}

/* A beta draw for parameters of at least 1. */
INLINE double beta(uint64_t *words, double a, double b) {
    const double x = standard_gamma(words, a), y = standard_gamma(words, b);
    return x / (x + y);
}
