"""The one table of algorithms: the functions that make them, by the names that the papers gave them."""

from collections.abc import Callable

from dp_bandit_envs.algorithms.abernethy_2008 import scrible
from dp_bandit_envs.algorithms.agarwal_2017 import as_ftpl, as_ftrl
from dp_bandit_envs.algorithms.agarwal_bandits_2017 import as_exp2, as_osmd, as_scrible
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.alon_2013 import exp3_set
from dp_bandit_envs.algorithms.asi_2023 import dp_epochs, lazy_hedge
from dp_bandit_envs.algorithms.asi_2025 import batched_lap_exp3, batched_lap_htinf, batched_lap_scrible
from dp_bandit_envs.algorithms.auer_2002 import ucb
from dp_bandit_envs.algorithms.auer_2003 import exp3
from dp_bandit_envs.algorithms.azize_2022 import adap_klucb, adap_ucb
from dp_bandit_envs.algorithms.azize_2025 import dp_imed, dp_klucb
from dp_bandit_envs.algorithms.baseline import uniform
from dp_bandit_envs.algorithms.bubeck_2012 import exp2, osmd
from dp_bandit_envs.algorithms.caron_2012 import ucb_max_n, ucb_n
from dp_bandit_envs.algorithms.freund_1997 import dp_hedge, hedge
from dp_bandit_envs.algorithms.garivier_2011 import kl_ucb
from dp_bandit_envs.algorithms.hu_2022 import dp_ts, lazy_dp_ts
from dp_bandit_envs.algorithms.huang_2022 import htinf
from dp_bandit_envs.algorithms.kairouz_2021 import dp_ftrl
from dp_bandit_envs.algorithms.mishra_2015 import private_ucb
from dp_bandit_envs.algorithms.noise_each_round import noisy_hedge
from dp_bandit_envs.algorithms.ren_2020 import ldp_ucb_b, ldp_ucb_l
from dp_bandit_envs.algorithms.sajed_2019 import dp_se
from dp_bandit_envs.algorithms.thompson_1933 import ts
from dp_bandit_envs.algorithms.tossou_2016 import dp_ucb, dp_ucb_bound, dp_ucb_int
from dp_bandit_envs.algorithms.tossou_2017 import dp_exp3_lap, dp_lambda_lap, exp3_tau
from dp_bandit_envs.algorithms.tossou_graphs_2017 import ts_max_n, ts_n
from dp_bandit_envs.algorithms.zimmert_2021 import tsallis_inf

ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "EXP3": exp3,
    "DP-EXP3-Lap": dp_exp3_lap,
    "DP-Lambda-Lap": dp_lambda_lap,
    "EXP3-tau": exp3_tau,
    "Batched-Lap-EXP3": batched_lap_exp3,
    "Batched-Lap-HTINF": batched_lap_htinf,
    "Tsallis-INF": tsallis_inf,
    "HTINF": htinf,
    "UCB": ucb,
    "KL-UCB": kl_ucb,
    "TS": ts,
    "DP-UCB-BOUND": dp_ucb_bound,
    "DP-UCB": dp_ucb,
    "DP-UCB-INT": dp_ucb_int,
    "Private-UCB": private_ucb,
    "DP-SE": dp_se,
    "AdaP-UCB": adap_ucb,
    "AdaP-KLUCB": adap_klucb,
    "Lazy-DP-TS": lazy_dp_ts,
    "DP-TS": dp_ts,
    "DP-KLUCB": dp_klucb,
    "DP-IMED": dp_imed,
    "LDP-UCB-L": ldp_ucb_l,
    "LDP-UCB-B": ldp_ucb_b,
    "TS-N": ts_n,
    "TS-MaxN": ts_max_n,
    "UCB-N": ucb_n,
    "UCB-MaxN": ucb_max_n,
    "EXP3-SET": exp3_set,
    "Hedge": hedge,
    "DP-Hedge": dp_hedge,
    "Lazy-Hedge": lazy_hedge,
    "DP-Epochs": dp_epochs,
    "Noisy-Hedge": noisy_hedge,
    "AS-FTRL": as_ftrl,
    "AS-FTPL": as_ftpl,
    "DP-FTRL": dp_ftrl,
    "EXP2": exp2,
    "AS-EXP2": as_exp2,
    "SCRiBLe": scrible,
    "AS-SCRiBLe": as_scrible,
    "Batched-Lap-SCRiBLe": batched_lap_scrible,
    "OSMD": osmd,
    "AS-OSMD": as_osmd,
    "Uniform": uniform,
}
"""The one table of algorithms; the function in each row documents the parameters."""
