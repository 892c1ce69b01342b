/* EXP3 against Bernoulli gains as a C programmer writes it: what the compiled simulator is measured against.

   Same random numbers (NumPy's SFC64), same arithmetic in the same order as agents/exp3.py, hence the same arms; but
   one plain loop, no general rules, nothing stored but totals. */

#include <math.h>
#include <stdint.h>

typedef struct {
    uint64_t a, b, c, counter;
} sfc64;

/* Small fast counter of Doty-Humphrey; then 53 bits to [0, 1). */
static inline double next_double(sfc64 *rng) {
    const uint64_t word = rng->a + rng->b + rng->counter++;
    rng->a = rng->b ^ (rng->b >> 11);
    rng->b = rng->c + (rng->c << 3);
    rng->c = ((rng->c << 24) | (rng->c >> 40)) + word;
    return (double)(word >> 11) * (1.0 / 9007199254740992.0);
}

/* Play `horizon` rounds. `adversary` and `agent` are the four words of the two streams' states;
   `scores` and `weights` are room for n_arms numbers; `pulls` and `totals` (each arm's gains) must come in as 0.
   Returns the gains collected. */
double play(int64_t horizon, int64_t n_arms, const double *means, double exploration_rate, const sfc64 *adversary,
            const sfc64 *agent, double *scores, double *weights, int64_t *pulls, double *totals) {
    sfc64 coins = *adversary, choices = *agent;
    const double floor = exploration_rate / (double)n_arms;
    double reference = 0.0, collected = 0.0;
    for (int64_t i = 0; i < n_arms; i++) {
        scores[i] = 0.0;
        weights[i] = 1.0;
    }
    for (int64_t t = 0; t < horizon; t++) {
        double total = 0.0;
        for (int64_t i = 0; i < n_arms; i++) total += weights[i];
        const double scale = (1.0 - exploration_rate) / total;
        double left = next_double(&choices);
        int64_t arm = 0;
        for (; arm < n_arms - 1; arm++) {
            left -= scale * weights[arm] + floor;
            if (left < 0.0) break;
        }
        double gain = 0.0;
        for (int64_t i = 0; i < n_arms; i++) {
            const double drawn = next_double(&coins) < means[i];
            totals[i] += drawn;
            if (i == arm) gain = drawn;
        }
        collected += gain;
        pulls[arm]++;
        const double probability = (1.0 - exploration_rate) * weights[arm] / total + floor;
        scores[arm] += floor * gain / probability;
        if (scores[arm] - reference < 50.0) {
            weights[arm] = exp(scores[arm] - reference);
        } else {
            reference = scores[arm];
            for (int64_t i = 0; i < n_arms; i++) weights[i] = exp(scores[i] - reference);
        }
    }
    return collected;
}
