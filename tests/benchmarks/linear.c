/* AS-FTRL with the binary counter on experts and on the ball, as a C programmer writes it, beside the compiled simulator.

   Same random numbers (NumPy's SFC64), same arithmetic in the same order, hence the same games to the last bit; but one
   plain loop, no general rules, nothing stored but totals. */

#include <math.h>

#include "arithmetic.h"

/* A game: a table of `rows` gain vectors, played again and again; and the sums of Chan, Shi and Song (2011). `upward`
   holds levels + 1 vectors; it, `exact`, `noise`, `sums` and `totals` must come in as 0. */
typedef struct {
    int64_t horizon, d, rows, levels;
    const double *table;
    double rate, scale, factor, grid;
    double *upward, *exact, *noise, *sums, *totals;
} game;

static const double ROUNDER = 6755399441055744.0; /* 1.5 * 2^52 */

static inline double laplace(uint64_t *rng, double scale) {
    const double q = next_double(rng, 1) - (0.5 - 0x1p-54), wait = scale * logarithm(1.0 - 2.0 * fabs(q));
    return q < 0.0 ? wait : -wait;
}

/* Add the gains of round t, and write the noisy sums into `sums`. */
static inline void release(const game *of, int64_t t, const double *gains, uint64_t *rng) {
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
double play_experts(const game *of, uint64_t *agent, uint64_t *mechanism, double *weights) {
    const int64_t d = of->d;
    double total = (double)d, reference = 0.0, collected = 0.0;
    for (int64_t i = 0; i < d; i++) weights[i] = 1.0;
    for (int64_t t = 1, row = 0; t <= of->horizon; t++) {
        const double *gains = of->table + d * row;
        double left = next_double(agent, 1) * total;
        int64_t arm = 0;
        for (; arm < d - 1; arm++) {
            left -= weights[arm];
            if (left < 0.0) break;
        }
        while (arm == d - 1 && arm > 0 && weights[arm] == 0.0) arm--;
        collected += gains[arm];
        release(of, t, gains, mechanism);
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
double play_ball(const game *of, uint64_t *agent, uint64_t *mechanism, double *point) {
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
        release(of, t, gains, mechanism);
        if (++row == of->rows) row = 0;
    }
    return collected;
}
