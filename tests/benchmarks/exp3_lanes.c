/* The games of exp3.c, L of them side by side in vector registers: as a C programmer writes them for speed.

   Arm i of game l is at place [i * L + l] of each array; a choice between numbers takes the place of each branch. */

#include "arithmetic.h"

/* Play `horizon` rounds of L games; the arguments are those of exp3.c. */
void play(int64_t horizon, const double *restrict means, double exploration_rate, uint64_t *restrict coins,
          uint64_t *restrict choices, double *restrict scores, double *restrict weights, double *restrict pulls,
          double *restrict totals, double *restrict collected) {
    const double floor = exploration_rate / K;
    double reference[L] = {0.0};
    for (int64_t t = 1; t <= horizon; t++) {
#pragma omp simd
        for (int l = 0; l < L; l++) {
            double total = 0.0;
            for (int i = 0; i < K; i++) total += weights[i * L + l];
            const double scale = (1.0 - exploration_rate) / total;
            double left = next_double(&choices[l], L);
            double arm = 0.0;
            for (int i = 0; i < K - 1; i++) {
                left -= scale * weights[i * L + l] + floor;
                arm += left < 0.0 ? 0.0 : 1.0;
            }
            double gain = 0.0, weight = 0.0, score = 0.0;
            for (int i = 0; i < K; i++) {
                const double drawn = next_double(&coins[l], L) < means[i] ? 1.0 : 0.0;
                totals[i * L + l] += drawn;
                pulls[i * L + l] += arm == i ? 1.0 : 0.0;
                gain = arm == i ? drawn : gain;
                weight = arm == i ? weights[i * L + l] : weight;
                score = arm == i ? scores[i * L + l] : score;
            }
            collected[l] += gain;
            const double probability = (1.0 - exploration_rate) * weight / total + floor;
            score += floor * gain / probability;
            weight = exponential(score - reference[l]);
            for (int i = 0; i < K; i++) {
                scores[i * L + l] = arm == i ? score : scores[i * L + l];
                weights[i * L + l] = arm == i ? weight : weights[i * L + l];
            }
        }
        if (t % 32 > 0) continue;
        for (int l = 0; l < L; l++) {
            double largest = scores[l];
            for (int i = 1; i < K; i++)
                if (scores[i * L + l] > largest) largest = scores[i * L + l];
            if (largest - reference[l] > 50.0) {
                reference[l] = largest;
                for (int i = 0; i < K; i++) weights[i * L + l] = exponential(scores[i * L + l] - largest);
            }
        }
    }
}
