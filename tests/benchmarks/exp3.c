/* EXP3 with K arms against Bernoulli gains as a C programmer writes it.

   Same random numbers (NumPy's SFC64), same arithmetic in the same order as agents/exp3.py, hence the same arms; but
   one plain loop, no general rules, nothing stored but totals. */

#include "arithmetic.h"

/* Play `horizon` rounds. `coins` and `choices` are the four words of the adversary's and the agent's stream;
   `scores`, `pulls`, `totals` (each arm's gains) and `collected` must come in as 0, `weights` as 1. */
void play(int64_t horizon, const double *means, double exploration_rate, uint64_t *coins, uint64_t *choices,
          double *scores, double *weights, double *pulls, double *totals, double *collected) {
    const double floor = exploration_rate / K;
    double reference = 0.0;
    for (int64_t t = 1; t <= horizon; t++) {
        double total = 0.0;
        for (int i = 0; i < K; i++) total += weights[i];
        const double scale = (1.0 - exploration_rate) / total;
        double left = next_double(choices, 1);
        int arm = 0;
        for (; arm < K - 1; arm++) {
            left -= scale * weights[arm] + floor;
            if (left < 0.0) break;
        }
        double gain = 0.0;
        for (int i = 0; i < K; i++) {
            const double drawn = next_double(coins, 1) < means[i];
            totals[i] += drawn;
            if (i == arm) gain = drawn;
        }
        *collected += gain;
        pulls[arm]++;
        const double probability = (1.0 - exploration_rate) * weights[arm] / total + floor;
        scores[arm] += floor * gain / probability;
        weights[arm] = exponential(scores[arm] - reference);
        if (t % 32 == 0) {
            double largest = scores[0];
            for (int i = 1; i < K; i++)
                if (scores[i] > largest) largest = scores[i];
            if (largest - reference > 50.0) {
                reference = largest;
                for (int i = 0; i < K; i++) weights[i] = exponential(scores[i] - reference);
            }
        }
    }
}
