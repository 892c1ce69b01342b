"""The list: a file, a line, what it is broken to, and the shortest selection of tests that must catch it."""

from typing import NamedTuple

TABLE = "tests/audits/test_exact_loss.py"
"""The exact audit over the table of algorithms."""
PRIVACY = "dp_bandit_envs/privacy"
ATTACKS = "tests/wrappers/test_boundary_attacks.py"
PLANTED = "tests/wrappers/test_boundary_planted_value.py"
FOREIGN = "tests/wrappers/test_boundary_foreign_parts.py"
SHARED = "tests/wrappers/test_no_shared_noise.py"
LAWS = "tests/test_draws.py"


class Mutation(NamedTuple):
    """One broken line.

    Attributes:
        what: What is broken, in words; a name for it.
        file: Where, from the root of the repository.
        old: A text that occurs there exactly once.
        new: What replaces it.
        tests: The tests that must catch it, as arguments of pytest. For noise that is `TABLE` alone.
    """

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = (TABLE,)


NOISE = (
    Mutation(
        "noise halved",
        f"{PRIVACY}/laplace.py",
        "scale = MARGIN * (sensitivity / checks.epsilon(epsilon))",
        "scale = MARGIN * (sensitivity / checks.epsilon(epsilon)) / 2",
    ),
    Mutation(
        "sensitivity forgotten",
        f"{PRIVACY}/laplace.py",
        "scale = MARGIN * (sensitivity / checks.epsilon(epsilon))",
        "scale = MARGIN * (min(sensitivity, 1.0) / checks.epsilon(epsilon))",
    ),
    Mutation(
        "noise cut at 8 scales",
        f"{PRIVACY}/laplace.py",
        "return rng.laplace(0.0, scale) if scale > 0.0 else 0.0",
        "return min(max(rng.laplace(0.0, scale), -8 * scale), 8 * scale) if scale > 0.0 else 0.0",
    ),
    Mutation(
        "noise of vectors halved",
        f"{PRIVACY}/node_noise.py",
        "if scale > 0.0:\n        rng.laplaces(node, scale)",
        "if scale > 0.0:\n        rng.laplaces(node, scale / 2)",
    ),
    Mutation(
        "one draw for all coordinates",
        f"{PRIVACY}/node_noise.py",
        "if scale > 0.0:\n        rng.laplaces(node, scale)",
        "if scale > 0.0:\n        node[:] = rng.laplace(0.0, scale)",
    ),
    Mutation(
        "Gaussian noise halved",
        f"{PRIVACY}/node_noise.py",
        "node[i] = draw_normal(scale, rng)",
        "node[i] = draw_normal(scale / 2, rng)",
    ),
    Mutation(
        "own-norm noise halved",
        f"{PRIVACY}/node_noise.py",
        "r = scale * rng.standard_gamma(d + 1.0)",
        "r = scale * rng.standard_gamma(d + 1.0) / 2",
    ),
    Mutation(
        "own-norm noise of another dimension",
        f"{PRIVACY}/node_noise.py",
        "r = scale * rng.standard_gamma(float(d)) / math.sqrt(squares)",
        "r = scale * rng.standard_gamma(1.0) / math.sqrt(squares)",
    ),
    Mutation(
        "levels of padded trees off by one",
        f"{PRIVACY}/counters/trees.py",
        "self.levels = self.nodes_per_item = max(1, (horizon - 1).bit_length())",
        "self.levels, self.nodes_per_item = max(1, (horizon - 1).bit_length()), max(1, (horizon - 1).bit_length() - 1)",
    ),
    Mutation(
        "levels of binary trees off by one",
        f"{PRIVACY}/counters/trees.py",
        "self.levels = self.nodes_per_item = horizon.bit_length()",
        "self.levels, self.nodes_per_item = horizon.bit_length(), max(1, horizon.bit_length() - 1)",
    ),
    Mutation(
        "both parts of the hybrid counter get epsilon",
        f"{PRIVACY}/counters/trees.py",
        'self.shares = 2 if self.budget == "split" else 1',
        "self.shares = 1",
    ),
    Mutation(
        "a trees node used twice",
        f"{PRIVACY}/counters/trees.py",
        "noise: float = state.upward[arm, above]",
        "noise: float = 2.0 * state.upward[arm, above]",
    ),
    Mutation(
        "length of a column forgotten",
        f"{PRIVACY}/counters/square_root.py",
        "return self.sigma * self._longest",
        "return self.sigma * min(1.0, self._longest)",
    ),
    Mutation(
        "s forgotten in the noise of sums",
        f"{PRIVACY}/items.py",
        "return _apart(below.sensitivity, gains, gains * below.values.width)",
        "return _apart(1.0, gains, gains * below.values.width)",
    ),
    Mutation(
        "L2 for L1",
        f"{PRIVACY}/mechanisms/counter_sums.py",
        "return distance_l1(below)",
        "return distance_l2(below)",
    ),
    Mutation(
        "own norm without the width",
        f"{PRIVACY}/items.py",
        "return _apart(values.own, steps, steps * values.width)",
        "return _apart(1.0, steps, steps * values.width)",
    ),
    Mutation(
        "s forgotten in random bits",
        f"{PRIVACY}/mechanisms/randomized_response.py",
        "return coin_chances(self.epsilon / below.gains_in_a_round)",
        "return coin_chances(self.epsilon)",
    ),
    Mutation(
        "random bits too sure",
        f"{PRIVACY}/mechanisms/randomized_response.py",
        "odds = math.exp(-epsilon)",
        "odds = math.exp(-2 * epsilon)",
    ),
    Mutation(
        "intervals with the noise of means for sums",
        f"{PRIVACY}/mechanisms/interval_sums.py",
        "ends.astype(float) ** (self.v / 2) * MARGIN",
        "ends.astype(float) ** (self.v / 2 - 1) * MARGIN",
    ),
    Mutation(
        "averages declare half of what they move by",
        f"{PRIVACY}/mechanisms/batch_average.py",
        "return distance_l1(below) / self.batch_size",
        "return distance_l1(below) / (2 * self.batch_size)",
    ),
    Mutation(
        "a batch's sum for its average",
        f"{PRIVACY}/mechanisms/batch_average.py",
        "total / state.batch_size, state.low)",
        "total, state.low)",
    ),
    Mutation(
        "a block's noise is drawn once for all arms",
        f"{PRIVACY}/mechanisms/block_sums.py",
        "block_sum = noisy(state.total[arm], state.scale, state.grid, rng)",
        "block_sum = noisy(state.total[arm], state.scale, state.grid, rng) if arm == 0 else state.total[arm]",
    ),
    Mutation(
        "a block is not cleared",
        f"{PRIVACY}/mechanisms/block_sums.py",
        "    state.total[arm] = 0.0\n",
        "",
    ),
    Mutation(
        "vector noise halved",
        "wrappers/vector/vector_boundary.py",
        "length - len(kept), self._parameters.scale)",
        "length - len(kept), self._parameters.scale / 2)",
    ),
    Mutation(
        "vector grid left out",
        "wrappers/vector/vector_boundary.py",
        "noisy[seen] = to_grid_array(noisy[seen] + self._draw(seen), grid)",
        "noisy[seen] = noisy[seen] + self._draw(seen)",
    ),
    Mutation(
        "vector games share their noise",
        "wrappers/vector/vector_boundary.py",
        "laplace_array(self._noise_streams[game], ",
        "laplace_array(self._noise_streams[0], ",
    ),
    Mutation(
        "a boundary takes gains that are not revealed",
        "wrappers/boundary.py",
        "        for arm, seen in enumerate(observed):\n            if seen:",
        "        for arm, seen in enumerate(observed):\n            if seen or True:",
    ),
    Mutation(
        "Hedge's range halved in its guarantee",
        f"{PRIVACY}/hedge_privacy.py",
        "rho=later * learning_rate**2 / 2,",
        "rho=later * learning_rate**2 / 8,",
    ),
    Mutation(
        "DP-Epochs at twice the rate",
        "agents/epoch_leader.py",
        "np.array([0, 1, -1]), epsilon / 2.0)",
        "np.array([0, 1, -1]), epsilon)",
    ),
)
"""Breaks of the noise: the audit over the table must catch each of them alone."""

OTHERS = (
    Mutation(
        "grid left out",
        f"{PRIVACY}/laplace.py",
        "return math.ldexp(1.0, min(math.frexp(deviation)[1] - GRID_BITS, LARGEST_GRID))",
        "return 0.0",
        ("tests/audits/test_gallery.py", "-k", "grid or double"),
    ),
    Mutation(
        "clipped noise judged as if it were not clipped",
        "dp_bandit_envs/audits/exact_audit.py",
        "        shown = is_shown(game, found, worst, rows[worst])",
        "        shown = True",
        ("tests/audits/test_after_noise.py", "-k", "clipped_normal"),
    ),
    Mutation(
        "gains beside the noise not looked for",
        "dp_bandit_envs/audits/exact_audit.py",
        "        check_hidden(game, rows)\n",
        "",
        ("tests/audits/test_after_noise.py", "-k", "beside_the_noise"),
    ),
    Mutation(
        "games without a release judged",
        "dp_bandit_envs/audits/audited_games.py",
        "    if found is None or len(found.arms) > rounds:",
        "    if False:",
        ("tests/audits/test_exact_loss.py", "-k", "on_graphs_no_algorithm"),
    ),
    Mutation(
        "EXP3 without a floor",
        "agents/exp3.py",
        "    floor = gamma / n_arms\n",
        "    floor = 0.0\n",
        ("tests/privacy/test_audit_exp3.py", "-k", "stretch"),
    ),
    Mutation(
        "EXP3 in loss form",
        "agents/exp3.py",
        "scores[arm] + state.exploration_rate / n_arms * seen.gains[arm]",
        "scores[arm] - state.exploration_rate / n_arms * (1.0 - seen.gains[arm])",
        ("tests/agents/test_exp3.py", "-k", "by_hand"),
    ),
    Mutation(
        "range check dropped",
        "wrappers/boundary.py",
        "        if not low <= gain <= high:",
        "        if not low <= gain <= high and gain < 0:",
        (PLANTED, "-k", "outside or nan"),
    ),
    Mutation(
        "a round reveals as many gains as it likes",
        "wrappers/boundary.py",
        "    if sum(map(bool, observed)) > below.gains_in_a_round:",
        "    if sum(map(bool, observed)) > below.n_values:",
        (FOREIGN, "-k", "more_gains_than_it_declares"),
    ),
    Mutation(
        "a round of many games reveals as many gains as it likes",
        "wrappers/vector/vector_boundary.py",
        "axis=-1) > self._below.gains_in_a_round):",
        "axis=-1) > self._below.n_values):",
        (FOREIGN, "-k", "more_gains_than_it_declares"),
    ),
    Mutation(
        "range check of many games dropped",
        "wrappers/vector/vector_boundary.py",
        'if not np.all((seen["gain"] >= low) & (seen["gain"] <= high)):',
        'if not np.all((seen["gain"] >= low)):',
        (PLANTED, "-k", "outside or nan"),
    ),
    Mutation(
        "range check of compiled games dropped",
        "dp_bandit_envs/simulation/loop.py",
        "valid &= (gain >= 0.0) & (gain <= 1.0)",
        "valid &= gain >= 0.0",
        (ATTACKS, "-k", "every_engine"),
    ),
    Mutation(
        "compiled noise from the agent's stream",
        "dp_bandit_envs/simulation/loop.py",
        "value, count = release(states[PLACE], arm, value, streams[PLACE + 1])",
        "value, count = release(states[PLACE], arm, value, streams[PLACE])",
        ("tests/audits/test_driver_releases.py", "-k", "compiled_releases"),
    ),
    Mutation(
        "total in info",
        "wrappers/boundary.py",
        'info: dict[str, Any] = {"round": self._round}',
        'info: dict[str, Any] = {"round": self._round, "total": self.env.unwrapped.collected}',
        (PLANTED, "-k", "scalar"),
    ),
    Mutation(
        "true reward",
        "wrappers/boundary.py",
        '            return float(released["gain"][arm])',
        "            return float(self.env.unwrapped.collected)",
        (PLANTED, "-k", "scalar"),
    ),
    Mutation(
        "attributes below can be read",
        "wrappers/boundary.py",
        "        if not self.has_wrapper_attr(name):\n",
        "        if not self.has_wrapper_attr(name):\n            return getattr(self.env, name)\n",
        (PLANTED, "-k", "asked_for"),
    ),
    Mutation(
        "closing shows errors",
        "wrappers/boundary.py",
        "        self._guarded(self.env.close)\n",
        "        self.env.close()\n",
        (FOREIGN, "-k", "closing"),
    ),
    Mutation(
        "errors are not replaced",
        "wrappers/boundary.py",
        "        except Exception:\n            if self._shows_errors:\n                raise",
        "        except Exception as error:\n            message = str(error)",
        (PLANTED, "-k", "replaced"),
    ),
    Mutation(
        "errors of a public kind are trusted",
        "wrappers/boundary.py",
        "message = str(error) if self._boundary_is_next else None",
        "message = str(error)",
        (PLANTED, "-k", "public_kind"),
    ),
    Mutation(
        "str shows what is below",
        "wrappers/boundary.py",
        'return "".join(f"<{type(layer).__name__}" for layer in layers_of(self)) + ">" * len([*layers_of(self)])',
        "return f'<{type(self).__name__}{self.env}>'",
        (FOREIGN, "-k", "text_form"),
    ),
    Mutation(
        "a started boundary can be copied",
        "wrappers/boundary.py",
        "        if self._has_begun():\n            raise TypeError(",
        "        if False:\n            raise TypeError(",
        (ATTACKS, "-k", "copied"),
    ),
    Mutation(
        "underscored attributes can be set",
        "wrappers/boundary.py",
        "        if not is_public(name) or hasattr(self, name):\n            raise",
        "        if is_public(name) and hasattr(self, name):\n            raise",
        (ATTACKS, "-k", "set_from_outside"),
    ),
    Mutation(
        "parameters of a wrapper can be set",
        "wrappers/named_wrappers.py",
        "            if not hasattr(wrapper, name):",
        "            if False:",
        (ATTACKS, "-k", "set_from_outside"),
    ),
    Mutation(
        "any wrapper may be below",
        "wrappers/inspect_below.py",
        "    return all(definer is None or definer in known_classes for definer in definers)",
        "    return True",
        (ATTACKS, "-k", "step_of_its_own"),
    ),
    Mutation(
        "a game may end by its gains",
        "wrappers/boundary.py",
        "if self._counts_rounds and bool(terminated) != (self._round_below == self._rounds):",
        "if False:",
        ("tests/wrappers/test_mechanisms_of_others.py", "-k", "ends_by_its_gains"),
    ),
    Mutation(
        "withheld gains are forgotten",
        f"{PRIVACY}/mechanism.py",
        'if below.withheld and own.model != "none":',
        "if False:",
        ("tests/wrappers/test_mechanisms_of_others.py", "-k", "withheld"),
    ),
    Mutation(
        "noise above averages is called local",
        f"{PRIVACY}/mechanism.py",
        'return dataclasses.replace(own, model="central") if own.model == "local" else own',
        "return own",
        ("tests/privacy/test_guarantee_steps.py",),
    ),
    Mutation(
        "label without the mechanism",
        "dp_bandit_envs/seeding.py",
        'text = f"{seed} {trial} {role} {episode} {len(player)} {player}{part}"',
        'text = f"{seed} {trial} {role} {episode} {len(player)} {player}"',
        (SHARED, "-k", "differ"),
    ),
    Mutation(
        "label without the player",
        "dp_bandit_envs/seeding.py",
        'text = f"{seed} {trial} {role} {episode} {len(player)} {player}{part}"',
        'text = f"{seed} {trial} {role} {episode} {part}"',
        (SHARED, "-k", "players"),
    ),
    Mutation(
        "label without the seed",
        "dp_bandit_envs/seeding.py",
        'text = f"{seed} {trial} {role} {episode} {len(player)} {player}{part}"',
        'text = f"{trial} {role} {episode} {len(player)} {player}{part}"',
        ("tests/test_seeding.py", "-k", "stand_in"),
    ),
    Mutation(
        "every episode has the same noise",
        "dp_bandit_envs/seeding.py",
        "self._played[self._trial, self._player] = episode + 1",
        "self._played[self._trial, self._player] = 0",
        ("tests/test_seeding.py", "-k", "new_game"),
    ),
    Mutation(
        "no seed is seed 0",
        "dp_bandit_envs/seeding.py",
        "            self._seed = drawn_seed()",
        "            self._seed = 0",
        ("tests/test_seeding.py", "-k", "entropy"),
    ),
    Mutation(
        "play without a seed uses seed 0",
        "dp_bandit_envs/simulation/game.py",
        "        number = drawn_seed()",
        "        number = 0",
        (SHARED, "-k", "without_a_seed"),
    ),
    Mutation(
        "many games cost one",
        f"{PRIVACY}/guarantee.py",
        "return changed._with(games * self.epsilon, games * self.delta, why)",
        "return changed._with(self.epsilon, self.delta, why)",
        ("tests/privacy/test_groups_and_games.py", "-k", "by_hand"),
    ),
    Mutation(
        "a group multiplies epsilon only",
        f"{PRIVACY}/guarantee.py",
        "law=None if self.law is None else self.law.of_group(k),",
        "law=self.law,",
        ("tests/privacy/test_groups_and_games.py", "-k", "by_hand or by_its_law"),
    ),
    Mutation(
        "k delta for the group of a pair",
        f"{PRIVACY}/guarantee.py",
        "self.delta * _chain(k, self.epsilon) if self.delta else 0.0",
        "self.delta * k",
        ("tests/privacy/test_groups_and_games.py", "-k", "by_hand or chains"),
    ),
    Mutation(
        "delta without the draws",
        f"{PRIVACY}/guarantee.py",
        "epsilon_with_draws(self._exact_epsilon, asked, self.tau) if self.tau > 0 else",
        "",
        ("tests/privacy/test_guarantee_of_draws.py",),
    ),
    Mutation(
        "a curve at one order too small",
        f"{PRIVACY}/accounting.py",
        "return tuple((order, min(value, pure)) for order, value in zip(ORDERS, found.tolist(), strict=True))",
        "return tuple((o, min(v, pure) * (0.99 if o == ORDERS[40] else 1)) for o, v in zip(ORDERS, found.tolist()))",
        ("tests/privacy/test_groups_and_games.py", "-k", "integrals"),
    ),
    Mutation(
        "a ledger forgets the deltas of draws",
        f"{PRIVACY}/ledger.py",
        "ways = [(pure, added_delta(pure, tau))]",
        "ways = [(pure, 0.0)]",
        ("tests/privacy/test_budget.py", "-k", "by_hand or without_a_delta"),
    ),
    Mutation(
        "a ledger forgets the pure sum",
        f"{PRIVACY}/ledger.py",
        "return min(self.by_sums(total), self.by_curve(total, rule))",
        "return self.by_curve(total, rule)",
        ("tests/privacy/test_budget.py", "-k", "without_a_delta or any_size"),
    ),
    Mutation(
        "a filter that is not monotone",
        f"{PRIVACY}/ledger.py",
        "spent = budget.spent(_total([*rows, *more]), fixed)",
        "spent = min(budget.by_sums(_total([*rows, *more])), budget.by_curve(_total(more), fixed))",
        ("tests/privacy/test_budget.py", "-k", "both_filters"),
    ),
    Mutation(
        "a ledger takes the least over orders",
        f"{PRIVACY}/ledger.py",
        "found = max(0.0, total.curve[rule.order] + self._paid(rule.order))",
        "found = max(0.0, min(lost + self._paid(order) for order, lost in enumerate(total.curve)))",
        ("tests/privacy/test_budget.py", "-k", "order"),
    ),
    Mutation(
        "Ledger.load makes a file",
        f"{PRIVACY}/ledger.py",
        '?mode=rw"',
        '?mode=rwc"',
        ("tests/privacy/test_ledger_file.py", "-k", "two_calls or gone"),
    ),
    Mutation(
        "facts of the wrong layer",
        "wrappers/boundary.py",
        "self._below = below[0].above if below else facts_of_game(env, name)",
        "self._below = facts_of_game(env, name)",
        ("tests/wrappers/test_laplace_clip_rescale.py", "tests/wrappers/test_mini_batch_average.py"),
    ),
    Mutation(
        "a secure draw from the fast stream",
        "wrappers/boundary.py",
        "return SecureStreams() if takes_no_seed(mechanism) else EpisodeStreams(role, label)",
        "return EpisodeStreams(role, label)",
        ("tests/wrappers/test_secure_draws.py",),
    ),
    Mutation(
        "a draw of 1 - v in place of v",
        "dp_bandit_envs/draws.py",
        "    v = rng.signed_uniform()  # type: ignore[attr-defined]\n    wait = scale * log(abs(v))\n    return",
        "    v = rng.signed_uniform()  # type: ignore[attr-defined]\n    wait = scale * log(1.0 - abs(v))\n    return",
        (LAWS,),
    ),
    Mutation(
        "scales without their factor",
        f"{PRIVACY}/laplace.py",
        "MARGIN = 1 + 1e-9",
        "MARGIN = 1.0",
        ("tests/privacy/test_privacy_arithmetic.py",),
    ),
    Mutation(
        "noise always positive",
        "dp_bandit_envs/draws.py",
        "return loc + (wait if v < 0.0 else -wait)",
        "return loc - wait",
        (LAWS,),
    ),
    Mutation(
        "cells begin at their draws",
        "dp_bandit_envs/draws.py",
        "-float(2 * word + 1) * 2.0**-64",
        "-float(2 * word) * 2.0**-64",
        (LAWS,),
    ),
    Mutation(
        "a bit of each uniform number lost in machine code",
        "dp_bandit_envs/compiling/intrinsics.py",
        "builder.uitofp(builder.lshr(word, WORD(11)), DOUBLE), DOUBLE(2.0**-53)",
        "builder.uitofp(builder.lshr(word, WORD(12)), DOUBLE), DOUBLE(2.0**-52)",
        (LAWS,),
    ),
    Mutation(
        "a digit of a logarithm",
        "dp_bandit_envs/arithmetic.py",
        "+ 0.666666666666667",
        "+ 0.666666666666767",
        ("tests/test_arithmetic.py",),
    ),
    Mutation(
        "a digit of a quantile",
        "dp_bandit_envs/draws.py",
        "13731.693765509461125",
        "13731.693765509561125",
        (LAWS,),
    ),
    Mutation(
        "an installed agent of any version",
        "dp_bandit_envs/simulation/provenance.py",
        'self.sources |= {f"{INSTALLED}{name}": version for name, version in versions.items()}',
        'self.sources |= {f"{INSTALLED}{name}": "" for name, version in versions.items()}',
        ("tests/simulation/test_code_digest.py", "-k", "another_version_of_a_package"),
    ),
)

ADAPTERS = "dp_bandit_envs/adapters"
OUTSIDE = "tests/adapters/test_outside_game.py"
FROM_OUTSIDE = (
    Mutation(
        "a reward from outside is kept",
        f"{ADAPTERS}/fed_env.py",
        "        _, gain = self._handed.value.pop(0)",
        "        _, gain = self.last = self._handed.value.pop(0)",
        (OUTSIDE, "-k", "nowhere"),
    ),
    Mutation(
        "rewards that wait can be printed",
        f"{ADAPTERS}/fed_env.py",
        "        self._handed = Withheld([])\n        self._round = 0",
        "        self._handed = Withheld([])\n        self.rewards = self._handed.value\n        self._round = 0",
        (OUTSIDE, "-k", "waiting_batch"),
    ),
    Mutation(
        "a reward of an arm that others chose",
        f"{ADAPTERS}/outside_game.py",
        "        if not isinstance(arm, (int, np.integer)) or arm != self._arm:",
        "        if not isinstance(arm, (int, np.integer)):",
        (OUTSIDE, "-k", "chosen_arm"),
    ),
    Mutation(
        "a game from outside without its ledger",
        f"{ADAPTERS}/fed_env.py",
        "        if self._ledger is not None:",
        "        if self._ledger is None:",
        (OUTSIDE, "-k", "ledger"),
    ),
    Mutation(
        "a refused reward is shown",
        f"{ADAPTERS}/reward_range.py",
        "received another one, which is withheld",
        "received {reward}, which is withheld",
        (OUTSIDE, "-k", "wrong_reward"),
    ),
    Mutation(
        "a copy of a game from outside",
        f"{ADAPTERS}/outside_game.py",
        "self._refuse_copy() if self._has_begun else",
        "self._refuse_copy() if not self._has_begun else",
        (OUTSIDE, "-k", "copied"),
    ),
)

DRAWS = (
    Mutation(
        "later releases see a node's draw before it is rounded",
        f"{PRIVACY}/counters/trees.py",
        "    state.upward[arm, state.position[arm, LEVEL]] = noise\n",
        "    _ = noise\n",
        ("tests/counters/test_settled_draws.py",),
    ),
)

GAMES = (
    Mutation(
        "only the arm played is believed to have a new release",
        "dp_bandit_envs/simulation/plan.py",
        'return self.feedback == "arm" and all(mechanism.idle is None for mechanism, _ in self.mechanisms)',
        "return True",
        ("tests/simulation/test_play_equals_simulate_on_sums.py",),
    ),
    Mutation(
        "environments share the adversary that they are given",
        "dp_bandit_envs/envs/made_adversary.py",
        "        return copy.copy(adversary)",
        "        return adversary",
        ("tests/envs/test_shared_adversary.py", "-k", "given or vector"),
    ),
    Mutation(
        "two threads play in one environment",
        "dp_bandit_envs/simulation/game.py",
        "    if game.on_block is not None:",
        "    if False:",
        ("tests/envs/test_shared_adversary.py", "-k", "second_thread"),
    ),
    Mutation(
        "a copied game moves the original",
        "dp_bandit_envs/adversaries/adversary.py",
        "if NEW_GAME in memo and is_ours(type(self)):",
        "if is_ours(type(self)):",
        ("tests/envs/test_shared_adversary.py", "-k", "middle"),
    ),
    Mutation(
        "an adversary that draws from np.random",
        "dp_bandit_envs/simulation/repeatable.py",
        "np.random.seed(number)",
        "np.random.seed(0)",
        ("tests/simulation/test_repeatable.py", "-k", "rng_only"),
    ),
)

MUTATIONS = (*NOISE, *OTHERS, *FROM_OUTSIDE, *DRAWS, *GAMES)
FEW = ("noise halved", "one draw for all coordinates", "total in info", "every episode has the same noise")
"""What `make test-slow` plays; the whole list takes minutes."""
