"""Broken lines of the rooms around the core: figures, runs, command line, audits, course."""

from tests.mutations.mutation import Mutation

FIGURES: tuple[Mutation, ...] = ()

RUNS: tuple[Mutation, ...] = ()

COMPARISON: tuple[Mutation, ...] = ()

CLI: tuple[Mutation, ...] = ()

ADVICE: tuple[Mutation, ...] = ()

PLOTS: tuple[Mutation, ...] = ()

RECORDED_DATA: tuple[Mutation, ...] = ()

AUDITS: tuple[Mutation, ...] = ()

CONFORMANCE: tuple[Mutation, ...] = ()

LABS = "dp_bandit_envs/course"
COURSE: tuple[Mutation, ...] = (
    Mutation(
        "a check of a lab passes any answer",
        f"{LABS}/checking.py",
        "            return Verdict(False, str(wrong))",
        "            return Verdict(True, str(wrong))",
        ("tests/course/test_checking.py",),
    ),
    Mutation(
        "a lab does not look where noise is cut",
        f"{LABS}/lab_price.py",
        "            check_ends(release, np.array(gains), epsilon, float(np.abs(noise).max()) / scale, at)\n",
        "",
        ("tests/labs/test_price_of_privacy.py",),
    ),
    Mutation(
        "a lab's bound on epsilon may say more than the counts",
        f"{LABS}/lab_attacker.py",
        "    return agree(found, bound) or (bound == 0 and found <= 0)",
        "    return found >= bound or (bound == 0 and found <= 0)",
        ("tests/course/test_check_attacker.py", "-k", "wrong_bound"),
    ),
    Mutation(
        "a bound of 0 has to be 0",
        f"{LABS}/lab_attacker.py",
        "    return agree(found, bound) or (bound == 0 and found <= 0)",
        "    return agree(found, bound)",
        ("tests/course/test_check_attacker.py", "-k", "however"),
    ),
    Mutation(
        "any suspect may be accused",
        f"{LABS}/lab_attacker.py",
        "    if letter != broken:",
        "    if letter not in order(own):",
        ("tests/course/test_check_attacker.py", "-k", "accusation"),
    ),
    Mutation(
        "a lab's sums are not looked at after 32 items",
        f"{LABS}/lab_counters.py",
        "    most_noise = max(_noise_of_long(private_sums, horizon) for horizon in LONG)",
        "    most_noise = 0.0",
        ("tests/course/test_check_counters.py", "-k", "wrong_sums"),
    ),
    Mutation(
        "a lab's trees are not tried at powers of two",
        f"{LABS}/lab_counters.py",
        "*((power, 1.0) for power in POWERS), (1, 1.0)]",
        "(1, 1.0)]",
        ("tests/course/test_check_counters.py", "-k", "wrong_sums"),
    ),
    Mutation(
        "a lab takes two cliques that are one",
        f"{LABS}/lab_graphs.py",
        "                if reveals[np.ix_(both, both)].all():",
        "                if not reveals[np.ix_(both, both)].any():",
        ("tests/course/test_check_graphs.py", "-k", "cover"),
    ),
    Mutation(
        "a lab's batch of a whole number is right",
        f"{LABS}/lab_switching.py",
        "STEP: Final = 0.1",
        "STEP: Final = 1.0",
        ("tests/labs/test_switching_costs.py",),
    ),
    Mutation(
        "a lab's step of Hedge is not tried far out",
        f"{LABS}/lab_experts.py",
        "        if far is None or not same(far, softmax(np.array(sums), 1.0)):",
        "        if far is not None and not same(far, softmax(np.array(sums), 1.0)):",
        ("tests/course/test_check_experts.py", "-k", "step"),
    ),
    Mutation(
        "a lab counts complete passes through the records only",
        f"{LABS}/lab_hiv.py",
        "    return -(-rounds // min(patients))",
        "    return max(1, rounds // min(patients))",
        ("tests/course/test_check_hiv.py", "-k", "rounds_of_a_patient"),
    ),
    Mutation(
        "one wrong decision about publishing is forgiven",
        f"{LABS}/lab_hiv.py",
        "    if not wrong:",
        "    if len(wrong) <= 1:",
        ("tests/course/test_check_hiv.py", "-k", "decisions or one_answer"),
    ),
    Mutation(
        "an agent has to win one league more",
        f"{LABS}/lab_own_agent.py",
        "    if played.won >= ENOUGH:",
        "    if played.won > ENOUGH:",
        ("tests/course/test_check_own_agent.py", "-k", "thirty_three"),
    ),
    Mutation(
        "leagues are won by the larger regret",
        f"{LABS}/lab_own_agent.py",
        "        return int((own < greedy).sum())",
        "        return int((own > greedy).sum())",
        ("tests/course/test_check_own_agent.py", "-k", "thirty_three"),
    ),
    Mutation(
        "a student's copy of a lab is overwritten",
        f"{LABS}/notebooks.py",
        "            if not (folder / name).exists():\n                shutil",
        "            if True:\n                shutil",
        ("tests/course/test_opening.py", "-k", "overwritten"),
    ),
    Mutation(
        "labs are served to anybody",
        f"{LABS}/notebooks.py",
        '    password = "" if read_only else secrets.token_urlsafe(12)',
        '    password = ""',
        ("tests/course/test_opening.py", "-k", "password"),
    ),
    Mutation(
        "a lab overwrites a file that it did not write",
        f"{LABS}/lab_own_agent.py",
        "        if path.exists() and not path.read_text",
        "        if not path.exists() and not path.read_text",
        ("tests/course/test_submission_file.py", "-k", "others"),
    ),
    Mutation(
        "the suspect with half the noise has all of it",
        f"{LABS}/lab_attacker.py",
        "    noise = BlockSums(epsilon=2 * DECLARED)",
        "    noise = BlockSums(epsilon=DECLARED)",
        ("tests/course/test_check_attacker.py", "-k", "loses_two"),
    ),
)

HELD = "dp_bandit_envs/tournament"
RANKS = "tests/tournament/test_final_table.py"
SAME_GAMES = "tests/tournament/test_same_games.py"
SUBMITTED = "tests/tournament/test_submitted_agents.py"
TOURNAMENT: tuple[Mutation, ...] = (
    Mutation(
        "a tournament ranks by name",
        f"{HELD}/final_table.py",
        "            rank = 1 + sum(mean < one.mean for mean in ranked.values())",
        "            rank = 1 + sum(other < name for other in ranked)",
        (RANKS,),
    ),
    Mutation(
        "a tournament's table is sorted by name",
        f"{HELD}/final_table.py",
        "    for one in found.standings:\n",
        "    for one in sorted(found.standings, key=lambda one: one.name):\n",
        (RANKS,),
    ),
    Mutation(
        "scores of a tournament are the regret itself",
        f"{HELD}/final_table.py",
        "(regret / uniform[:, np.newaxis]).mean(axis=0)",
        "regret.mean(axis=0)",
        (RANKS,),
    ),
    Mutation(
        "ranks of a tournament that chance could give",
        f"{HELD}/final_table.py",
        "        if pair.adjusted <= 1 - CONFIDENCE and",
        "        if pair.p_value <= 2 and",
        (RANKS,),
    ),
    Mutation(
        "an agent that crashes has lost nothing",
        f"{HELD}/refereeing.py",
        "            regret, failure = None, _why_it_ended(process, limits)",
        "            regret, failure = np.zeros((len(KINDS), games.games)), _why_it_ended(process, limits)",
        (SUBMITTED, "-k", "signal_without_a_name or leaves_hard or to_the_end"),
    ),
    Mutation(
        "an agent that stopped is scored",
        f"{HELD}/holding.py",
        "        if match.regret is not None:\n            regrets",
        "        if match.regret is None:\n            regrets[match.submission.name] = 0 * regrets[names[0]]\n"
        "        else:\n            regrets",
        (SUBMITTED, "-k", "to_the_end"),
    ),
    Mutation(
        "all games of a tournament have the arms in one order",
        f"{HELD}/hidden_games.py",
        "        return self._adversary.next_gains(rounds)[:, self._order]",
        "        return self._adversary.next_gains(rounds)",
        (SAME_GAMES, "-k", "every_game"),
    ),
    Mutation(
        "hidden coins are the public ones",
        f"{HELD}/hidden_games.py",
        "    return Stochastic(n_arms, horizon, means=[_between(rng, 0.2, 0.8) for _ in range(n_arms)])",
        "    return Stochastic(n_arms, horizon)",
        (SAME_GAMES, "-k", "parameters"),
    ),
    Mutation(
        "hidden biases are the public ones",
        f"{HELD}/hidden_games.py",
        "    return FullyOblivious(n_arms, horizon, gap=_between(rng, 0.05, 0.25))",
        "    return FullyOblivious(n_arms, horizon)",
        (SAME_GAMES, "-k", "parameters"),
    ),
    Mutation(
        "hidden games come from a seed that everybody knows",
        f"{HELD}/hidden_games.py",
        '            env.reset(seed=self.seed, options={"trial": trial, "player": player})',
        '            env.reset(seed=0, options={"trial": trial, "player": player})',
        (SAME_GAMES, "-k", "those_of_play"),
    ),
    Mutation(
        "two agents have the same names for the arms",
        f"{HELD}/hidden_games.py",
        "role=ADVERSARY, player=player, part=part).permutation",
        'role=ADVERSARY, player="", part=part).permutation',
        (SAME_GAMES, "-k", "names_of_the_arms"),
    ),
    Mutation(
        "agents of a private tournament see true gains",
        f"{HELD}/hidden_games.py",
        "        return self.behind_boundary(env) if private else env",
        "        return env",
        (SAME_GAMES, "-k", "those_of_play or nothing_of_seed"),
    ),
    Mutation(
        "an agent's process has no limit of processor time",
        f"{HELD}/process_limits.py",
        "    _lower(resource, resource.RLIMIT_CPU, most, most + 1)\n",
        "",
        (SUBMITTED, "-k", "limits"),
    ),
    Mutation(
        "an agent's process has no limit by the clock",
        f"{HELD}/watched_process.py",
        "            self.late = since >= 0 and self.waited + monotonic() - since > self._limit",
        "            self.late = False",
        (SUBMITTED, "-k", "asleep"),
    ),
    Mutation(
        "an agent's process has no limit of memory",
        f"{HELD}/process_limits.py",
        "        _lower(resource, resource.RLIMIT_AS, used + megabytes * MEGABYTE, None)",
        "        pass",
        (SUBMITTED, "-k", "limits"),
    ),
    Mutation(
        "an agent's process has its parent's environment",
        f"{HELD}/watched_process.py",
        "    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}",
        "    kept = dict(os.environ)",
        (SAME_GAMES, "-k", "environment_arguments"),
    ),
    Mutation(
        "a name on a tournament's page is HTML",
        f"{HELD}/tournament_page.py",
        'f"<td>{escape(place.name)}{bar}</td>',
        'f"<td>{place.name}{bar}</td>',
        (RANKS,),
    ),
)

OTHERS = "dp_bandit_envs/adapters"
ADAPTERS: tuple[Mutation, ...] = (
    Mutation(
        "rewards from outside become losses",
        f"{OTHERS}/reward_range.py",
        "        return (number - self.low) / (self.high - self.low)",
        "        return (self.high - number) / (self.high - self.low)",
        ("tests/adapters/test_foreign_env.py", "-k", "same_gains"),
    ),
    Mutation(
        "MABWiser learns losses",
        f"{OTHERS}/mabwiser_agent.py",
        "        learn([arm], [gain])",
        "        learn([arm], [1 - gain])",
        ("tests/neighbours/test_mabwiser_adapter.py", "-k", "own_loop"),
    ),
    Mutation(
        "river learns losses",
        f"{OTHERS}/river_agent.py",
        "        self._policy.update(arm, gain)",
        "        self._policy.update(arm, 1 - gain)",
        ("tests/neighbours/test_river_adapter.py", "-k", "own_loop"),
    ),
    Mutation(
        "gains are costs of Vowpal Wabbit",
        f"{OTHERS}/vowpal_wabbit_agent.py",
        "{arm + 1}:{1 - gain}:",
        "{arm + 1}:{gain}:",
        ("tests/neighbours/test_vowpal_wabbit_adapter.py", "-k", "own_loop"),
    ),
    Mutation(
        "a withheld gain counts as 0",
        f"{OTHERS}/reward_agent.py",
        "        if observed[arm]:\n",
        "        if True:\n",
        ("tests/neighbours/test_river_adapter.py", "-k", "behind_a_boundary"),
    ),
    Mutation(
        "records of another package serve again unseen",
        f"{OTHERS}/foreign_env.py",
        "    played.serves_once = use is not None and records is None",
        "    played.serves_once = False",
        ("tests/adapters/test_foreign_env.py", "-k", "serve_again"),
    ),
    Mutation(
        "every clone of a policy plays the first game again",
        f"{OTHERS}/river_policy.py",
        "        return type(self)(self._make_game, self._trials)",
        "        return type(self)(self._make_game, itertools.count())",
        ("tests/adapters/test_other_loops.py", "-k", "noise_of_their_own"),
    ),
)

ENVS: tuple[Mutation, ...] = (
    Mutation(
        "gains up to 2 in the space of observations",
        "dp_bandit_envs/envs/arm_observations.py",
        "gain=spaces.Box(0.0, 1.0, (n_arms,), np.float64)",
        "gain=spaces.Box(0.0, 2.0, (n_arms,), np.float64)",
        ("tests/envs/test_every_registered_id.py",),
    ),
    Mutation(
        "the ball's payoffs from 0 in the space",
        "dp_bandit_envs/envs/point_env.py",
        "gain=spaces.Box(values.low, values.high, (n_values,), np.float64)",
        "gain=spaces.Box(0.0, values.high, (n_values,), np.float64)",
        ("tests/envs/test_every_registered_id.py",),
    ),
    Mutation(
        "one arm too many in the space of actions",
        "dp_bandit_envs/envs/bandit_env.py",
        "self.action_space = spaces.Discrete(width)  #",
        "self.action_space = spaces.Discrete(width + 1)  #",
        ("tests/envs/test_every_registered_id.py",),
    ),
    Mutation(
        "all games of a vector with the first seed",
        "dp_bandit_envs/envs/bandit_vector_env.py",
        "adversary.begin(streams.next(own, options))",
        "adversary.begin(streams.next(seeds[0], options))",
        ("tests/envs/test_vector_of_games.py",),
    ),
    Mutation(
        "seeds of a vector's games one apart for nothing",
        "dp_bandit_envs/envs/vector_calls.py",
        "return [checked_seed(first + index) for index in range(num_envs)]",
        "return [checked_seed(first) for index in range(num_envs)]",
        ("tests/envs/test_vector_of_games.py",),
    ),
    Mutation(
        "two games with one seed accepted",
        "dp_bandit_envs/envs/vector_calls.py",
        "if different < len(given):",
        "if different < 0:",
        ("tests/envs/test_bad_seeds_and_options.py",),
    ),
    Mutation(
        "one stream of graphs for a vector",
        "dp_bandit_envs/envs/graph_env.py",
        "[EpisodeStreams(GRAPH) for _ in range(self.num_envs)]",
        "[EpisodeStreams(GRAPH)] * self.num_envs",
        ("tests/graphs/test_graph_games.py",),
    ),
    Mutation(
        "one source of graphs for a vector",
        "dp_bandit_envs/envs/graph_env.py",
        "[copy.copy(source) for _ in range(self.num_envs)]",
        "[source] * self.num_envs",
        ("tests/graphs/test_graph_games.py",),
    ),
    Mutation(
        "graph drawn from the gains' stream",
        "dp_bandit_envs/envs/graph_env.py",
        "        self._graph_streams = EpisodeStreams(GRAPH)\n",
        "        self._graph_streams = EpisodeStreams(0)\n",
        ("tests/graphs/test_graph_games.py",),
    ),
    Mutation(
        "the walk's gap with the other sign",
        "dp_bandit_envs/adversaries/switching.py",
        "loss = walk + 0.5 - (state.gap",
        "loss = walk + 0.5 + (state.gap",
        ("tests/adversaries/test_switching_walk.py",),
    ),
    Mutation(
        "one axis with bad signs",
        "dp_bandit_envs/adversaries/one_axis.py",
        "good = drawn[:, 1] < (1 + self.gap) / 2",
        "good = drawn[:, 1] < (1 - self.gap) / 2",
        ("tests/adversaries/test_gain_vectors.py",),
    ),
    Mutation(
        "leaning away",
        "dp_bandit_envs/adversaries/leaning.py",
        "self._unit_vectors(rounds) + self.gap * self._direction",
        "self._unit_vectors(rounds) - self.gap * self._direction",
        ("tests/adversaries/test_gain_vectors.py",),
    ),
    Mutation(
        "linear coins against the features",
        "dp_bandit_envs/adversaries/linear_gains.py",
        "means = self._along(self.gap * self._direction[np.newaxis])",
        "means = self._along(-self.gap * self._direction[np.newaxis])",
        ("tests/envs/test_linear_game.py",),
    ),
    Mutation(
        "replay from the second row",
        "dp_bandit_envs/adversaries/replay.py",
        "        self.enter_ledger()\n        self._round = 0\n",
        "        self.enter_ledger()\n        self._round = 1\n",
        ("tests/adversaries/test_replay_of_users_data.py",),
    ),
    Mutation(
        "vectors from the second row",
        "dp_bandit_envs/adversaries/vector_table.py",
        "        self._round = 0\n",
        "        self._round = 1\n",
        ("tests/adversaries/test_gain_vectors.py",),
    ),
    Mutation(
        "a game that goes on after its horizon",
        "dp_bandit_envs/envs/bandit_env.py",
        '        if self._round == self.horizon:\n            raise StepOutsideGameError(f"the game ended',
        '        if self._round > self.horizon:\n            raise StepOutsideGameError(f"the game ended',
        ("tests/envs/test_bad_input_to_environments.py",),
    ),
    Mutation(
        "a vector that starts anew a round late",
        "dp_bandit_envs/envs/bandit_vector_env.py",
        "        if self._round == self.horizon:\n            observation, info = self.reset()",
        "        if self._round > self.horizon:\n            observation, info = self.reset()",
        ("tests/envs/test_vector_of_games.py",),
    ),
    Mutation(
        "no arm reveals itself",
        "dp_bandit_envs/graphs/feedback_graph.py",
        "        if self_loops:\n            every",
        "        if not self_loops:\n            every",
        ("tests/graphs/test_feedback_graph.py",),
    ),
    Mutation(
        "an edge of a directed graph the other way",
        "dp_bandit_envs/graphs/feedback_graph.py",
        "keys = np.unique(first * n_arms + second)",
        "keys = np.unique(second * n_arms + first)",
        ("tests/graphs/test_feedback_graph.py",),
    ),
    Mutation(
        "a cap that reveals one arm more",
        "dp_bandit_envs/graphs/feedback_graph.py",
        "room = most - (len(others) < len(row))",
        "room = most + 1 - (len(others) < len(row))",
        ("tests/graphs/test_graph_source.py",),
    ),
    Mutation(
        "a graph drawn once for all games",
        "dp_bandit_envs/graphs/graph_source.py",
        "        if not self._random:\n            self._whole = first",
        "        if True:\n            self._whole = first",
        ("tests/graphs/test_graph_source.py",),
    ),
    Mutation(
        "info with the gains of other arms",
        "dp_bandit_envs/envs/bandit_env.py",
        'return observation, earned, terminated, False, {"round": self._round}',
        'return observation, earned, terminated, False, {"round": self._round, "gains": row}',
        ("tests/envs/test_every_registered_id.py",),
    ),
    Mutation(
        "a vector's info with gains",
        "dp_bandit_envs/envs/bandit_vector_env.py",
        'terminated, never, every_game("round", np.full(self.num_envs, self._round))',
        'terminated, never, every_game("round", np.full(self.num_envs, self._round)) | {"gains": row}',
        ("tests/envs/test_vector_of_games.py",),
    ),
    Mutation(
        "an observation of all arms",
        "dp_bandit_envs/envs/bandit_env.py",
        "        gains = np.zeros(self.n_arms)\n        gains[arm] = gain\n        observed",
        "        gains = self._shown().copy()\n        gains[arm] = gain\n        observed",
        ("tests/envs/test_every_registered_id.py",),
    ),
    Mutation(
        "a charge that is observed against the wish",
        "dp_bandit_envs/envs/bandit_env.py",
        "observation = self._reveal(arm, earned if self.observe_charge else gain)",
        "observation = self._reveal(arm, earned)",
        ("tests/envs/test_observed_charge.py",),
    ),
    Mutation(
        "a charge a round short",
        "dp_bandit_envs/adversaries/memory_bounded.py",
        "return run >= min(memory + 1, t)",
        "return run >= min(memory, t)",
        ("tests/adversaries/test_memory_charges.py",),
    ),
    Mutation(
        "policy regret against the last arm",
        "dp_bandit_envs/envs/evaluators_numbers.py",
        "best = totals if self._payments is None else self._payments.constant_totals",
        "best = totals if self._payments is None else self._payments.option_totals",
        ("tests/adversaries/test_payoff_functions.py",),
    ),
    Mutation(
        "one game counted for a vector",
        "dp_bandit_envs/envs/ledger_of_many.py",
        "adversary.ledger.enter(adversary.data_use, games, ahead=True)",
        "adversary.ledger.enter(adversary.data_use, 1, ahead=True)",
        ("tests/privacy/test_ledger.py",),
    ),
    Mutation(
        "a pool of outcomes in one order",
        "dp_bandit_envs/adversaries/outcome_pools.py",
        "shuffles = [stream.permutation(pool) for",
        "shuffles = [pool for",
        ("tests/adversaries/test_outcome_pools.py",),
    ),
    Mutation(
        "a record used once more than said",
        "dp_bandit_envs/adversaries/outcome_pools.py",
        "self.data_use = use_of_pools([len(pool) for pool in self._pools], self.horizon, persons)",
        "self.data_use = use_of_pools([2 * len(pool) for pool in self._pools], self.horizon, persons)",
        ("tests/adversaries/test_data_use.py",),
    ),
    Mutation(
        "a gain of 1.5 in a table",
        "dp_bandit_envs/adversaries/gain_files.py",
        "wrong = np.argwhere(~((gains >= 0) & (gains <= 1)))",
        "wrong = np.argwhere(~((gains >= 0) & (gains <= 2)))",
        ("tests/adversaries/test_wrong_gain_files.py",),
    ),
    Mutation(
        "a name of a game taken twice",
        "dp_bandit_envs/envs/registration.py",
        "    same = [one for one in (*GAMES, *gym.registry) if one.lower() == game.id.lower()]\n    if same:",
        "    same = [one for one in (*GAMES, *gym.registry) if one == game.id]\n    if same:",
        ("tests/envs/test_register_adversary.py",),
    ),
    Mutation(
        "gain vectors longer than the ball",
        "dp_bandit_envs/decisions/ball.py",
        "rows, rows) <= MARGIN)",
        "rows, rows) <= 1.1)",
        ("tests/decisions/test_decision_sets.py",),
    ),
    Mutation(
        "the simplex's nearest point lowered by one more coordinate",
        "dp_bandit_envs/decisions/simplex.py",
        "surplus[np.count_nonzero(falling > surplus) - 1]",
        "surplus[np.count_nonzero(falling > surplus) - 2]",
        ("tests/decisions/test_decision_sets.py",),
    ),
    Mutation(
        "half of the ball's distance",
        "dp_bandit_envs/decisions/ball.py",
        "return up(2 * math.sqrt(self.dimension))",
        "return up(math.sqrt(self.dimension))",
        ("tests/decisions/test_decision_sets.py",),
    ),
)

ALGORITHMS: tuple[Mutation, ...] = ()

OUTER_ROOMS = (
    *FIGURES,
    *RUNS,
    *COMPARISON,
    *CLI,
    *ADVICE,
    *PLOTS,
    *RECORDED_DATA,
    *AUDITS,
    *CONFORMANCE,
    *COURSE,
    *TOURNAMENT,
    *ADAPTERS,
    *ENVS,
    *ALGORITHMS,
)
