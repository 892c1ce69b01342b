/* AS-FTRL with the binary counter on experts and on the ball, as a C programmer writes it, beside the compiled simulator.

   Same random numbers (NumPy's SFC64), same arithmetic in the same order, hence the same games to the last bit; but one
   plain loop, no general rules, nothing stored but totals. */

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t a, b, c, counter;
} sfc64;

/* A game: a table of `rows` gain vectors, played again and again; and the sums of Chan, Shi and Song (2011). `upward`
   holds levels + 1 vectors; it, `exact`, `noise`, `sums` and `totals` must come in as 0. */
typedef struct {
    int64_t horizon, d, rows, levels;
    const double *table;
    double rate, scale, factor, grid;
    double *upward, *exact, *noise, *sums, *totals;
} game;

static inline uint64_t next_word(sfc64 *rng) {
    const uint64_t word = rng->a + rng->b + rng->counter++;
    rng->a = rng->b ^ (rng->b >> 11);
    rng->b = rng->c + (rng->c << 3);
    rng->c = ((rng->c << 24) | (rng->c >> 40)) + word;
    return word;
}

static inline double next_double(sfc64 *rng) { return (double)(next_word(rng) >> 11) * (1.0 / 9007199254740992.0); }

static const double LN2_HIGH = 0.6931471803691238, LN2_LOW = 1.9082149292705877e-10;
static const double ROUNDER = 6755399441055744.0; /* 1.5 * 2^52 */

static inline double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* e^x, as `dp_bandit_envs.arithmetic.exp`. */
static inline double exponential(double x) {
    if (!(x >= -707.0 && x <= 709.0)) return x < -707.0 ? 0.0 : x * INFINITY;
    const double k = x * 1.4426950408889634 + ROUNDER - ROUNDER;
    const double r = (x - k * LN2_HIGH) - k * LN2_LOW, s = r * r;
    const double even = ((2.7620088445409746e-07 * s + 2.4801521295954376e-05) * s + 0.0013888888917213717) * s
        + 0.04166666666662413;
    const double odd = ((2.510038549551032e-08 * s + 2.7557268459997064e-06) * s + 0.00019841269863053618) * s
        + 0.008333333333330062;
    const double rise = r + s * ((0.5 + s * even) + r * (0.16666666666666669 + s * odd));
    return (1.0 + rise) * of_bits((uint64_t)((int64_t)k + 1023) << 52);
}

/* ln x for x in [2^-1022, inf), as `dp_bandit_envs.arithmetic.log`. */
static inline double logarithm(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    double m = of_bits((bits & 0xFFFFFFFFFFFFF) | 0x3FE0000000000000), k = (double)((int64_t)(bits >> 52) - 1022);
    if (m < 0.7071067811865476) m += m, k -= 1.0;
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
    const double odd = ((0.14616585424888623 * w + 0.18182889455674947) * w + 0.2857142862600327) * w + 0.666666666666667;
    const double even = (0.15331710618210773 * w + 0.22222211130259878) * w + 0.39999999999899444;
    const double rest = z * odd + w * even, half = 0.5 * f * f;
    return k * LN2_HIGH - ((half - (s * (half + rest) + k * LN2_LOW)) - f);
}

static inline double laplace(sfc64 *rng, double scale) {
    const double q = next_double(rng) - (0.5 - 0x1p-54), wait = scale * logarithm(1.0 - 2.0 * fabs(q));
    return q < 0.0 ? wait : -wait;
}

/* Add the gains of round t, and write the noisy sums into `sums`. */
static inline void release(const game *of, int64_t t, const double *gains, sfc64 *rng) {
    const int64_t d = of->d, level = __builtin_ctzll(t), rest = t & (t - 1);
    const double *above = of->upward + d * (rest > 0 ? __builtin_ctzll(rest) : of->levels);
    double *own = of->upward + d * level;
    for (int64_t i = 0; i < d; i++) of->noise[i] = laplace(rng, of->scale) + above[i];
    memcpy(own, of->noise, d * sizeof(double));
    for (int64_t i = 0; i < d; i++) {
        of->exact[i] += (double)(int64_t)(gains[i] * 0x1p30) * 0x1p-30;
        of->sums[i] = ((of->exact[i] + of->factor * of->noise[i]) / of->grid + ROUNDER - ROUNDER) * of->grid;
        of->totals[i] += gains[i];
    }
}

/* Play experts by Hedge; `weights` is room for d numbers. Returns the gains collected. */
double play_experts(const game *of, const sfc64 *agent, const sfc64 *mechanism, double *weights) {
    sfc64 choices = *agent, noise = *mechanism;
    const int64_t d = of->d;
    double total = (double)d, reference = 0.0, collected = 0.0;
    for (int64_t i = 0; i < d; i++) weights[i] = 1.0;
    for (int64_t t = 1, row = 0; t <= of->horizon; t++) {
        const double *gains = of->table + d * row;
        double left = next_double(&choices) * total;
        int64_t arm = 0;
        for (; arm < d - 1; arm++) {
            left -= weights[arm];
            if (left < 0.0) break;
        }
        while (arm == d - 1 && arm > 0 && weights[arm] == 0.0) arm--;
        collected += gains[arm];
        release(of, t, gains, &noise);
        double largest = -INFINITY;
        for (int64_t i = 0; i < d; i++) largest = of->sums[i] > largest ? of->sums[i] : largest;
        if (fabs(of->rate * (largest - reference)) > 50.0) reference = largest;
        total = 0.0;
        for (int64_t i = 0; i < d; i++) {
            weights[i] = exponential(of->rate * (of->sums[i] - reference));
            total += weights[i];
        }
        if (++row == of->rows) row = 0;
    }
    return collected;
}

/* Play the ball by the regularised leader; `point` is room for d numbers. Returns what the points earned. */
double play_ball(const game *of, const sfc64 *agent, const sfc64 *mechanism, double *point) {
    sfc64 noise = *mechanism;
    const int64_t d = of->d;
    double collected = 0.0;
    (void)agent;
    for (int64_t t = 1, row = 0; t <= of->horizon; t++) {
        const double *gains = of->table + d * row;
        double square = 0.0, earned = 0.0, factor = of->rate;
        for (int64_t i = 0; i < d; i++) square += of->sums[i] * of->sums[i];
        if (square * factor * factor > 1.0) factor = 1.0 / sqrt(square);
        for (int64_t i = 0; i < d; i++) {
            point[i] = factor * of->sums[i];
            earned += gains[i] * point[i];
        }
        collected += fmin(fmax(earned, -1.0), 1.0);
        release(of, t, gains, &noise);
        if (++row == of->rows) row = 0;
    }
    return collected;
}
