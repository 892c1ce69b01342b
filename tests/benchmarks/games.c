/* Games as a C programmer writes them for speed, beside the compiled simulator.

   Same random numbers (NumPy's SFC64), same arithmetic in the same order, hence the same games to the last bit; but
   plain loops, no general rules, nothing stored but totals. Of L games side by side, arm i of game l is at place
   [i * L + l] of each array, and a choice between numbers takes the place of each branch. */

#include "arithmetic.h"

#define EACH_GAME _Pragma("omp simd") for (int l = 0; l < L; l++)
#define ARMS_OF_EXP3 4
#define ARMS_OF_UCB 10
#define PADDED 16 /* the arms of UCB, in whole vector registers */
#define D 10
#define ROUNDS 16 /* of which noise is drawn at once */

/* What a game needs: `gains` are the arms' means, or `rows` rows of a table, played again and again; the words of the
   streams of gains, agent and noise; and what comes out, which must come in as 0. `scales` are those of a tree's noise,
   by its number of levels; `slope` multiplies the logarithm in a bonus for noise. */
typedef struct {
    int64_t horizon, rows;
    const double *gains;
    double rate, scale, grid, bound, slope;
    const double *scales;
    uint64_t *coins, *choices, *noise;
    double *collected, *pulls, *totals;
} game;

/* The pointers of a game as variables, which a compiler believes to be apart. */
#define POINTERS                                                                                                       \
    const double *restrict gains = of->gains;                                                                          \
    uint64_t *restrict coins = of->coins, *restrict choices = of->choices, *restrict words = of->noise;               \
    double *restrict collected = of->collected, *restrict pulls = of->pulls, *restrict totals = of->totals;           \
    (void)coins, (void)choices, (void)words, (void)pulls;

/* EXP3 in L games; with noise, on gains that are withheld outside of the bound and otherwise rescaled. */
INLINE void exp3(const game *of, int noisy) {
    POINTERS
    enum { K = ARMS_OF_EXP3 };
    const double gamma = of->rate, floor = gamma / K;
    const double least = -of->bound, most = 1.0 + of->bound, width = 1.0 + 2.0 * of->bound;
    _Alignas(64) double scores[K * L], weights[K * L], reference[L] = {0.0};
    for (int j = 0; j < K * L; j++) scores[j] = 0.0, weights[j] = 1.0;
    for (int64_t t = 1; t <= of->horizon; t++) {
        EACH_GAME {
            double total = 0.0;
            for (int i = 0; i < K; i++) total += weights[i * L + l];
            const double share = (1.0 - gamma) / total;
            double left = next_double(&choices[l], L), arm = 0.0, gain = 0.0, weight = 0.0, score = 0.0;
            for (int i = 0; i < K - 1; i++) {
                left -= share * weights[i * L + l] + floor;
                arm += left < 0.0 ? 0.0 : 1.0;
            }
            for (int i = 0; i < K; i++) {
                const double drawn = next_double(&coins[l], L) < gains[i] ? 1.0 : 0.0;
                totals[i * L + l] += drawn;
                pulls[i * L + l] += arm == i ? 1.0 : 0.0;
                gain = arm == i ? drawn : gain;
                weight = arm == i ? weights[i * L + l] : weight;
                score = arm == i ? scores[i * L + l] : score;
            }
            collected[l] += gain;
            double learns = 1.0;
            if (noisy) {
                const double seen = on_grid(gain + laplace(next_signed(&words[l], L), of->scale), of->grid);
                learns = seen < least ? 0.0 : seen > most ? 0.0 : 1.0;
                gain = (seen - least) / width;
                gain = gain < 1.0 ? gain : 1.0;
            }
            score += floor * gain / ((1.0 - gamma) * weight / total + floor);
            weight = exponential(score - reference[l]);
            const double learner = learns > 0.0 ? arm : -1.0;
            for (int i = 0; i < K; i++) {
                scores[i * L + l] = learner == i ? score : scores[i * L + l];
                weights[i * L + l] = learner == i ? weight : weights[i * L + l];
            }
        }
        if (t % 32 > 0) continue;
        for (int l = 0; l < L; l++) {
            double largest = scores[l];
            for (int i = 1; i < K; i++) largest = scores[i * L + l] > largest ? scores[i * L + l] : largest;
            if (largest - reference[l] >= 50.0) {
                reference[l] = largest;
                for (int i = 0; i < K; i++) weights[i * L + l] = exponential(scores[i * L + l] - largest);
            }
        }
    }
}

void play_exp3(const game *of) { exp3(of, 0); }

void play_laplace(const game *of) { exp3(of, 1); }

/* UCB in L games. */
void play_ucb(const game *of) {
    POINTERS
    enum { K = ARMS_OF_UCB };
    _Alignas(64) double means[K * L], roots[K * L], sums[K * L];
    for (int j = 0; j < K * L; j++) means[j] = INFINITY, roots[j] = 1.0, sums[j] = 0.0;
    for (int64_t t = 0; t < of->horizon; t++) {
        const double spread = sqrt(2.0 * logarithm(t > 1 ? t : 1));
        EACH_GAME {
            double drawn[K], highest = -INFINITY, arm = 0.0, gain = 0.0, sum = 0.0, count = 0.0;
#pragma GCC unroll 10
            for (int i = 0; i < K; i++) {
                drawn[i] = next_double(&coins[l], L) < gains[i] ? 1.0 : 0.0;
                totals[i * L + l] += drawn[i];
            }
#pragma GCC unroll 10
            for (int i = 0; i < K; i++) {
                const double index = means[i * L + l] + spread * roots[i * L + l];
                arm = index > highest ? (double)i : arm;
                highest = index > highest ? index : highest;
            }
#pragma GCC unroll 10
            for (int i = 0; i < K; i++) {
                gain = arm == i ? drawn[i] : gain;
                sum = arm == i ? sums[i * L + l] : sum;
                count = arm == i ? pulls[i * L + l] : count;
            }
            collected[l] += gain;
            sum += gain;
            count += 1.0;
            const double inverse = 1.0 / count, root = sqrt(inverse), mean = sum * inverse;
#pragma GCC unroll 10
            for (int i = 0; i < K; i++) {
                sums[i * L + l] = arm == i ? sum : sums[i * L + l];
                pulls[i * L + l] = arm == i ? count : pulls[i * L + l];
                means[i * L + l] = arm == i ? mean : means[i * L + l];
                roots[i * L + l] = arm == i ? root : roots[i * L + l];
            }
        }
    }
}

/* The gains of ten arms: coins that fall on heads where the upper 53 bits of a word are below `heads`. */
typedef struct {
    int64_t drawn[ARMS_OF_UCB], won[ARMS_OF_UCB];
    uint64_t heads[ARMS_OF_UCB];
} coins_of_arms;

INLINE coins_of_arms coins_with(const double *means) {
    coins_of_arms arms = {{0}, {0}, {0}};
    for (int i = 0; i < ARMS_OF_UCB; i++) arms.heads[i] = ceil(means[i] * 0x1p53);
    return arms;
}

INLINE void toss(coins_of_arms *arms, uint64_t *words) {
    for (int i = 0; i < ARMS_OF_UCB; i++) {
        arms->drawn[i] = next_word(words, 1) >> 11 < arms->heads[i];
        arms->won[i] += arms->drawn[i];
    }
}

INLINE void add_up(const coins_of_arms *arms, double *totals) {
    for (int i = 0; i < ARMS_OF_UCB; i++) totals[i] = arms->won[i];
}

/* The first arm with the largest mean + spread root; a branch on the place, which can be foreseen, hides the search. */
INLINE int best_arm(const double *restrict means, const double *restrict roots, double spread) {
    _Alignas(64) double indices[PADDED], highest = -INFINITY;
#pragma omp simd reduction(max : highest)
    for (int i = 0; i < PADDED; i++) {
        indices[i] = means[i] + spread * roots[i];
        highest = indices[i] > highest ? indices[i] : highest;
    }
    int arm = 0;
    while (indices[arm] != highest) arm++;
    return arm;
}

/* UCB in one game, with the arms' indices in vector registers. */
void play_one_ucb(const game *of) {
    POINTERS
    enum { K = ARMS_OF_UCB };
    coins_of_arms tossed = coins_with(gains);
    _Alignas(64) double means[PADDED], roots[PADDED], sums[K] = {0.0};
    for (int i = 0; i < PADDED; i++) means[i] = i < K ? INFINITY : -INFINITY, roots[i] = 1.0;
    for (int64_t t = 0; t < of->horizon; t++) {
        toss(&tossed, coins);
        const double spread = sqrt(2.0 * logarithm(t > 1 ? t : 1));
        const int arm = best_arm(means, roots, spread);
        *collected += tossed.drawn[arm];
        sums[arm] += tossed.drawn[arm];
        pulls[arm] += 1.0;
        const double inverse = 1.0 / pulls[arm];
        means[arm] = sums[arm] * inverse;
        roots[arm] = sqrt(inverse);
    }
    add_up(&tossed, totals);
}

/* The largest q with kl(mean, q) at most a level: KL-UCB's index, by Halley's iteration. */
INLINE double kl_upper(double mean, double level) {
    const double rest = 1.0 - mean;
    if (level >= 40.0 * rest) return 1.0;
    if (mean == 0.0) return -exponential_minus_1(-level);
    const double root = sqrt(2.0 * mean * level / rest);
    double s = root + (2.0 - mean) * level / (3.0 * rest);
    for (int steps = root > 1e-5 * mean ? 20 : 0; steps > 0; steps--) {
        const double rise = -rest * exponential_minus_1(-s), q = mean + rise;
        const double newton = (rest * s - mean * logarithm_of_1_and(rise / mean) - level) * q / rise;
        const double step = newton / (1.0 - 0.5 * newton * mean * (1.0 - q) / (q * rise));
        s -= step;
        if (fabs(step) <= 1e-4 * s) break;
    }
    return fmin(mean - rest * exponential_minus_1(-s), 1.0);
}

/* The arms of KL-UCB: means, numbers of gains, and m ln m + (1 - m) ln(1 - m) for each mean m. */
typedef struct {
    _Alignas(64) double means[PADDED], counts[PADDED], entropies[PADDED];
} coins_seen;

/* By how much n kl(mean, q) exceeds a level, for all arms in vector registers; with two logarithms. */
INLINE void excesses(const coins_seen *arms, double q, double level, double *restrict over) {
    const double of_coin = logarithm(q), of_other = logarithm(1.0 - q);
#pragma omp simd
    for (int i = 0; i < PADDED; i++) {
        const double mean = arms->means[i];
        const double kl = arms->entropies[i] - mean * of_coin - (1.0 - mean) * of_other;
        over[i] = arms->counts[i] * kl - level;
    }
}

/* Whether the arm's index is above a number q just below it, and all others are below q, so that none is solved for. */
INLINE int leads(const coins_seen *arms, int arm, double level) {
    const double mean = arms->means[arm], rest = 1.0 - mean, share = level / arms->counts[arm];
    if (mean == 0.0 || share >= rest) return 0;
    const double s = sqrt(2.0 * mean * share / rest) + (2.0 - mean) * share / (3.0 * rest);
    const double q = mean - rest * exponential_minus_1(-0.999 * s);
    _Alignas(64) double over[PADDED];
    int64_t lower = 0;
    excesses(arms, q, level, over);
#pragma omp simd reduction(+ : lower)
    for (int64_t i = 0; i < PADDED; i++) {
        const double slack = 1e-12 * (level + arms->counts[i]);
        lower += arms->means[i] < q && (i == arm ? over[i] < -slack : over[i] > slack);
    }
    return lower == ARMS_OF_UCB;
}

/* KL-UCB (Garivier and Cappe 2011) in one game. Where the arm played last does not lead for certain, its index is
   solved for, and those of arms that the divergences at the largest index do not rule out. */
void play_kl_ucb(const game *of) {
    POINTERS
    enum { K = ARMS_OF_UCB };
    coins_of_arms tossed = coins_with(gains);
    coins_seen arms = {{0.0}, {0.0}, {0.0}};
    double sums[K] = {0.0}, over[PADDED];
    int arm = 0;
    for (int64_t t = 0; t < of->horizon; t++) {
        toss(&tossed, coins);
        const double level = logarithm(t > 1 ? t : 1);
        if (t < K) {
            arm = t;
        } else if (!leads(&arms, arm, level)) {
            const int last = arm;
            double highest = kl_upper(arms.means[last], level / arms.counts[last]);
            for (int i = 0; i < K;) {
                excesses(&arms, highest, level, over);
                for (; i < K; i++) {
                    const double mean = arms.means[i], n = arms.counts[i], slack = 1e-12 * (level + n);
                    if (i == last || (highest < 1.0 && mean < highest && over[i] > slack)) continue;
                    const double index = kl_upper(mean, level / n);
                    const int wins_tie = index < 1.0 || n == arms.counts[arm] ? i < arm : n < arms.counts[arm];
                    if (index > highest || (index == highest && wins_tie)) {
                        arm = i++;
                        highest = index;
                        break;
                    }
                }
            }
        }
        *collected += tossed.drawn[arm];
        sums[arm] += tossed.drawn[arm];
        arms.counts[arm] += 1.0;
        const double mean = arms.means[arm] = sums[arm] / arms.counts[arm];
        arms.entropies[arm] = (mean > 0.0 ? mean * logarithm(mean) : 0.0) +
                              (mean < 1.0 ? (1.0 - mean) * logarithm(1.0 - mean) : 0.0);
    }
    for (int i = 0; i < K; i++) pulls[i] = arms.counts[i];
    add_up(&tossed, totals);
}

/* Draw the arm of each label, as `RandomLabels` does before its first round. */
INLINE void draw_labels(uint64_t *restrict choices, int *restrict arms) {
    for (int i = 0; i < ARMS_OF_UCB; i++) arms[i] = i;
    for (int i = 0; i < ARMS_OF_UCB - 1; i++) {
        const int drawn = i + (int)(next_double(choices, 1) * (ARMS_OF_UCB - i));
        const int other = drawn < ARMS_OF_UCB - 1 ? drawn : ARMS_OF_UCB - 1, arm = arms[i];
        arms[i] = arms[other];
        arms[other] = arm;
    }
}

/* AdaP-UCB (Azize and Basu 2022) in one game: an arm is held until its block, as long as all before it, is full. */
void play_adap_ucb(const game *of) {
    POINTERS
    enum { K = ARMS_OF_UCB };
    coins_of_arms tossed = coins_with(gains);
    double means[K], roots[K], inverses[K];
    int arms[K];
    draw_labels(choices, arms);
    for (int i = 0; i < K; i++) means[i] = INFINITY, roots[i] = inverses[i] = 1.0;
    for (int64_t t = 0; t < of->horizon;) {
        const double level = logarithm(t > 1 ? t : 1), spread = sqrt(of->rate * (level + logarithm(2.0)));
        double highest = -INFINITY, sum = 0.0;
        int label = 0;
        for (int i = 0; i < K; i++) {
            const double index = means[i] + spread * roots[i] + of->slope * level * inverses[i];
            if (index > highest) highest = index, label = i;
        }
        const int arm = arms[label];
        const int64_t length = pulls[arm] > 1.0 ? pulls[arm] : 1, left = of->horizon - t;
        for (int64_t end = t + (length < left ? length : left); t < end; t++) {
            toss(&tossed, coins);
            sum += tossed.drawn[arm];
        }
        *collected += sum;
        if (length > left) {
            pulls[arm] += left;
            continue;
        }
        pulls[arm] += length;
        inverses[label] = 1.0 / length;
        roots[label] = sqrt(inverses[label]);
        means[label] = on_grid(sum + laplace(next_signed(words, 1), of->scale), of->grid) * inverses[label];
    }
    add_up(&tossed, totals);
}

/* Laplace draws of scale 1 for some rounds, ten a round. */
INLINE void draw_noise(uint64_t *restrict words, double *restrict noise) {
    _Alignas(64) uint64_t drawn[ROUNDS * D];
    for (int i = 0; i < ROUNDS * D; i++) drawn[i] = next_word(words, 1);
#pragma omp simd
    for (int i = 0; i < ROUNDS * D; i++) noise[i] = laplace(with_sign(drawn[i]), 1.0);
}

/* DP-UCB (Tossou and Dimitrakakis 2016, algorithm 2) in one game, with the hybrid counter of Chan, Shi and Song (2011):
   all arms' counters are at one place of their trees, so their noise and sums are in vector registers. */
void play_dp_ucb(const game *of) {
    POINTERS
    enum { K = ARMS_OF_UCB };
    coins_of_arms tossed = coins_with(gains);
    _Alignas(64) double means[PADDED], roots[PADDED], inverses[PADDED] = {0.0}, exact[PADDED] = {0.0};
    _Alignas(64) double noise[ROUNDS * D + PADDED] = {0.0}, base[PADDED] = {0.0}, upward[64][PADDED] = {{0.0}};
    int levels = 0;
    for (int i = 0; i < PADDED; i++) means[i] = i < K ? INFINITY : -INFINITY, roots[i] = 1.0;
    for (int64_t t = 1; t <= of->horizon; t++) {
        toss(&tossed, coins);
        const double spread = sqrt(2.0 * logarithm(t > 2 ? t - 1 : 1));
        const int arm = best_arm(means, roots, spread);
        *collected += tossed.drawn[arm];
        exact[arm] += tossed.drawn[arm];
        pulls[arm] += 1.0;
        inverses[arm] = 1.0 / pulls[arm];
        roots[arm] = sqrt(inverses[arm]);
        const int64_t rest = t & (t - 1);
        const double scale = of->scales[rest == 0 ? 1 : levels];
        const double *above = (rest & (rest - 1)) == 0 ? base : upward[__builtin_ctzll(rest)];
        double *own = rest == 0 ? base : upward[__builtin_ctzll(t)];
        const double *draws = noise + D * ((t - 1) % ROUNDS);
        if (draws == noise) draw_noise(words, noise);
#pragma omp simd
        for (int i = 0; i < PADDED; i++) {
            const double sum = on_grid(exact[i] + (scale * draws[i] + above[i]), of->grid);
            own[i] = sum - exact[i];
            means[i] = inverses[i] > 0.0 ? sum * inverses[i] : means[i];
        }
        if (rest == 0) levels = __builtin_ctzll(t);
    }
    add_up(&tossed, totals);
}

INLINE double stirling(double x) {
    double shift = 0.0;
    for (; x < 8.0; x += 1.0) shift += (x + 0.5) * logarithm_of_1_and(1.0 / x) - 1.0;
    const double y = 1.0 / (x * x);
    double series = 1.0 / 1188.0 - y * (691.0 / 360360.0);
    series = 1.0 / 1260.0 - y * (1.0 / 1680.0 - y * series);
    return shift + (1.0 / 12.0 - y * (1.0 / 360.0 - y * series)) / x;
}

/* The logarithm of the density of Beta(alpha, beta) at theta, without cancelled terms. */
INLINE double log_density(double alpha, double beta, double theta) {
    const double total = alpha + beta, pi = 3.141592653589793;
    const double ahead = theta > 0.5 ? beta - total * (1.0 - theta) : total * theta - alpha;
    const double rise = ahead > -0.5 * alpha ? logarithm_of_1_and(ahead / alpha) : logarithm(total * theta / alpha);
    const double fall =
        ahead < 0.5 * beta ? logarithm_of_1_and(-ahead / beta) : logarithm(total * (1.0 - theta) / beta);
    const double peak = 0.5 * logarithm(alpha * (beta / total) / (2.0 * pi)) - logarithm(theta * (1.0 - theta));
    return alpha * rise + beta * fall + peak + (stirling(total) - stirling(alpha) - stirling(beta));
}

/* How far above the mode of Beta(k + 1, n - k + 1) a floor is, in standard deviations; its square over 2. */
INLINE double distance(double k, double n, double floor) {
    const double excess = n * floor - k;
    const double right = 2.0 * k > n ? 2.0 * k * (n - k) / n : 0.5 * n;
    return excess > 0.0 ? excess * excess / (floor < 0.5 ? 2.0 * n * floor * (1.0 - floor) : right) : 0.0;
}

/* A draw from Beta(k + 1, n - k + 1) above a floor, for a coin of this chance that fell on heads, or 0; proposed from
   the tangent of the density. */
static __attribute__((noinline)) double above_floor(uint64_t *words, double k, double n, double floor, double chance) {
    double wait = standard_exponential(words) - logarithm(chance);
    const double x = distance(k, n, floor);
    if (floor >= 1.0 || (x >= 1.5 && wait < x + 0.9)) return 0.0;
    const double slope = (n * floor - k) / (floor * (1.0 - floor));
    wait += log_density(k + 1.0, n - k + 1.0, floor) - logarithm(slope);
    const double step = wait / slope;
    if (wait < 0.0 || step >= 1.0 - floor) return 0.0;
    const double gap = -wait - k * logarithm_of_1_and(step / floor) -
                       (n - k) * logarithm_of_1_and(-step / (1.0 - floor));
    return standard_exponential(words) < gap ? 0.0 : floor + step;
}

/* Thompson sampling (1933) in one game. The arm played last is drawn; another only if a coin falls on heads, of a
   chance that bounds the one of its draw to be larger (Devroye 1986, chapter VII), for all arms in vector registers. */
void play_thompson(const game *of) {
    POINTERS
    enum { K = ARMS_OF_UCB };
    coins_of_arms tossed = coins_with(gains);
    _Alignas(64) double ones[PADDED] = {0.0}, numbers[PADDED] = {0.0}, chances[PADDED];
    for (int64_t t = 0, last = 0, arm = 0; t < of->horizon; t++) {
        toss(&tossed, coins);
        next_double(choices, 1);
        double floor = beta(choices, ones[last] + 1.0, numbers[last] - ones[last] + 1.0);
        double u = next_double(choices, 1), tails = 1.0;
        for (int i = 0; i < K;) {
#pragma omp simd
            for (int j = 0; j < PADDED; j++) {
                const double x = distance(ones[j], numbers[j], floor);
                const double less = x < 10.0 ? 0.00275 : 0.0000185, more = x < 1.5 ? 1.0 : 0.091;
                chances[j] = x > 40.0 ? 0.0 : x < 5.0 ? more : less;
            }
            for (; i < K; i++) {
                if (i == last) continue;
                tails *= 1.0 - chances[i];
                if (u < tails) continue;
                const double k = ones[i], n = numbers[i];
                const double draw = chances[i] == 1.0 ? beta(choices, k + 1.0, n - k + 1.0)
                                                      : above_floor(choices, k, n, floor, chances[i]);
                u = next_double(choices, 1);
                tails = 1.0;
                if (draw > floor) {
                    floor = draw;
                    arm = i++;
                    break;
                }
            }
        }
        *collected += tossed.drawn[arm];
        pulls[arm] += 1.0;
        ones[arm] += tossed.drawn[arm];
        numbers[arm] += 1.0;
        last = arm;
    }
    add_up(&tossed, totals);
}

/* The regularised leader on the ball, with the sums of Chan, Shi and Song (2011); logarithms in vector registers. */
void play_ball(const game *of) {
    POINTERS
    _Alignas(64) double upward[64][D] = {{0.0}}, exact[D] = {0.0}, sums[D] = {0.0}, noise[ROUNDS * D];
    for (int64_t t = 1, row = 0; t <= of->horizon; t++) {
        const double *row_of = gains + D * row;
        double square = 0.0, earned = 0.0, factor = of->rate;
        for (int i = 0; i < D; i++) square += sums[i] * sums[i];
        if (square * factor * factor > 1.0) factor = 1.0 / sqrt(square);
        for (int i = 0; i < D; i++) earned += row_of[i] * (factor * sums[i]);
        *collected += fmin(fmax(earned, -1.0), 1.0);
        const int64_t rest = t & (t - 1);
        const double *above = upward[rest > 0 ? __builtin_ctzll(rest) : 63];
        double *own = upward[__builtin_ctzll(t)];
        const double *draws = noise + D * ((t - 1) % ROUNDS);
        if (draws == noise) draw_noise(words, noise);
#pragma omp simd
        for (int i = 0; i < D; i++) {
            exact[i] += (double)(int64_t)(row_of[i] * 0x1p30) * 0x1p-30;
            sums[i] = on_grid(exact[i] + (of->scale * draws[i] + above[i]), of->grid);
            own[i] = sums[i] - exact[i];
            totals[i] += row_of[i];
        }
        if (++row == of->rows) row = 0;
    }
}
