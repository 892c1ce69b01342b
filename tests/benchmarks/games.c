/* Games as a C programmer writes them for speed, beside the compiled simulator.

   Same random numbers (NumPy's SFC64), same arithmetic in the same order, hence the same games to the last bit; but
   plain loops, no general rules, nothing stored but totals. Of L games side by side, arm i of game l is at place
   [i * L + l] of each array, and a choice between numbers takes the place of each branch. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define EACH_GAME _Pragma("omp simd") for (int l = 0; l < L; l++)
#define ARMS_OF_EXP3 4
#define ARMS_OF_UCB 10
#define D 10

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

/* A word as a double, rounded once; without AVX-512 no vector instruction does it, but its halves fit into mantissas. */
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

/* The next word as a number in (0, 1] with a sign; see signed_uniform in dp_bandit_envs/draws.py. */
INLINE double next_signed(uint64_t *words, int stride) {
    const uint64_t word = next_word(words, stride), sign = word >> 63;
    const double v = to_double(2 * (word ^ -sign) + 1) * 0x1p-64;
    return sign ? v : -v;
}

/* e^x for x up to 709, and 0 below -707. */
INLINE double exponential(double x) {
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

INLINE double laplace(double v, double scale) {
    const double wait = scale * logarithm(fabs(v));
    return v < 0.0 ? wait : -wait;
}

INLINE double on_grid(double number, double grid) {
    const double shift = 6755399441055744.0 * grid;
    return number + shift - shift;
}

/* What a game needs: `gains` are the arms' means, or `rows` rows of a table, played again and again; the words of the
   streams of gains, agent and noise; and what comes out, which must come in as 0. */
typedef struct {
    int64_t horizon, rows;
    const double *gains;
    double rate, scale, grid, bound;
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

/* UCB in one game, with the arms' indices in vector registers. */
void play_one_ucb(const game *of) {
    POINTERS
    enum { K = ARMS_OF_UCB, PADDED = 16 };
    _Alignas(64) double means[PADDED], roots[PADDED], sums[K] = {0.0}, indices[PADDED];
    for (int i = 0; i < PADDED; i++) means[i] = i < K ? INFINITY : -INFINITY, roots[i] = 1.0;
    for (int64_t t = 0; t < of->horizon; t++) {
        double drawn[K], highest = -INFINITY;
        for (int i = 0; i < K; i++) {
            drawn[i] = next_double(coins, 1) < gains[i] ? 1.0 : 0.0;
            totals[i] += drawn[i];
        }
        const double spread = sqrt(2.0 * logarithm(t > 1 ? t : 1));
#pragma omp simd reduction(max : highest)
        for (int i = 0; i < PADDED; i++) {
            indices[i] = means[i] + spread * roots[i];
            highest = indices[i] > highest ? indices[i] : highest;
        }
        int arm = 0;
        while (indices[arm] != highest) arm++;
        *collected += drawn[arm];
        sums[arm] += drawn[arm];
        pulls[arm] += 1.0;
        const double inverse = 1.0 / pulls[arm];
        means[arm] = sums[arm] * inverse;
        roots[arm] = sqrt(inverse);
    }
}

/* The regularised leader on the ball, with the sums of Chan, Shi and Song (2011); logarithms in vector registers. */
void play_ball(const game *of) {
    POINTERS
    _Alignas(64) double upward[64][D] = {{0.0}}, exact[D] = {0.0}, sums[D] = {0.0}, noise[D];
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
        for (int i = 0; i < D; i++) noise[i] = next_signed(words, 1);
#pragma omp simd
        for (int i = 0; i < D; i++) {
            exact[i] += (double)(int64_t)(row_of[i] * 0x1p30) * 0x1p-30;
            sums[i] = on_grid(exact[i] + (laplace(noise[i], of->scale) + above[i]), of->grid);
            own[i] = sums[i] - exact[i];
            totals[i] += row_of[i];
        }
        if (++row == of->rows) row = 0;
    }
}
