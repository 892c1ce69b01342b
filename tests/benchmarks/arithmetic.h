/* NumPy's generator SFC64, and exponential and logarithm of dp_bandit_envs/arithmetic.py to the last bit. */

#include <stdint.h>
#include <string.h>

/* Step Doty-Humphrey's SFC64, whose four words are `stride` words apart; then 53 bits to [0, 1). */
static inline __attribute__((always_inline)) double next_double(uint64_t *words, int stride) {
    const uint64_t a = words[0], b = words[stride], c = words[2 * stride], counter = words[3 * stride];
    const uint64_t word = a + b + counter;
    words[0] = b ^ (b >> 11);
    words[stride] = c + (c << 3);
    words[2 * stride] = ((c << 24) | (c >> 40)) + word;
    words[3 * stride] = counter + 1;
    return (double)(int64_t)(word >> 11) * (1.0 / 9007199254740992.0);
}

/* e^x for x up to 709, and 0 below -707. */
static inline __attribute__((always_inline)) double exponential(double x) {
    const double rounder = 1.5 * 4503599627370496.0;
    const double bounded = x < -707.0 ? -707.0 : x;
    const double k = bounded * 1.4426950408889634 + rounder - rounder;
    const double r = (bounded - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
    const double s = r * r;
    const double even = (((2.7620088445409746e-07 * s + 2.4801521295954376e-05) * s + 0.0013888888917213717) * s) +
                        0.04166666666662413;
    const double odd = (((2.510038549551032e-08 * s + 2.7557268459997064e-06) * s + 0.00019841269863053618) * s) +
                       0.008333333333330062;
    const double rise = r + s * ((0.5 + s * even) + r * (0.16666666666666669 + s * odd));
    const double low_bits = k + (rounder + 1023.0);
    uint64_t bits;
    double power;
    memcpy(&bits, &low_bits, 8);
    bits <<= 52;
    memcpy(&power, &bits, 8);
    return x < -707.0 ? 0.0 : (1.0 + rise) * power;
}

/* ln x for x from 2^-1022 on. */
static inline __attribute__((always_inline)) double logarithm(double x) {
    const double high = 0.6931471803691238, low = 1.9082149292705877e-10;
    uint64_t bits;
    double m;
    memcpy(&bits, &x, 8);
    double k = (double)(int64_t)(bits >> 52) - 1022.0;
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
