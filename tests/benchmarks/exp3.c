/* EXP3 against Bernoulli gains as a C programmer writes it: what the compiled simulator is measured against.

   Same random numbers (NumPy's PCG64), same arithmetic in the same order as agents/exp3.py, hence the same arms; but
   one plain loop, no general rules, nothing stored but totals. */

#include <math.h>
#include <stdint.h>

typedef unsigned __int128 uint128_t;

typedef struct {
    uint128_t state, increment;
} pcg64;

/* PCG XSL-RR 128/64 of O'Neill (2014), stepped before its output as NumPy does; then 53 bits to [0, 1). */
static inline double next_double(pcg64 *rng) {
    const uint128_t multiplier = ((uint128_t)2549297995355413924ULL << 64) + 4865540595714422341ULL;
    rng->state = rng->state * multiplier + rng->increment;
    uint64_t mixed = (uint64_t)(rng->state >> 64) ^ (uint64_t)rng->state;
    unsigned turn = (unsigned)(rng->state >> 122);
    uint64_t word = (mixed >> turn) | (mixed << (-turn & 63));
    return (double)(word >> 11) * (1.0 / 9007199254740992.0);
}

static pcg64 from_words(const uint64_t words[4]) {
    pcg64 rng = {((uint128_t)words[0] << 64) | words[1], ((uint128_t)words[2] << 64) | words[3]};
    return rng;
}

/* Play `horizon` rounds. `adversary` and `agent` are the two streams as (state high, low, increment high, low);
   `scores` and `weights` are room for n_arms numbers; `pulls` and `totals` (each arm's gains) must come in as 0.
   Returns the gains collected. */
double play(int64_t horizon, int64_t n_arms, const double *means, double exploration_rate, const uint64_t adversary[4],
            const uint64_t agent[4], double *scores, double *weights, int64_t *pulls, double *totals) {
    pcg64 coins = from_words(adversary), choices = from_words(agent);
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
