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

ENVS: tuple[Mutation, ...] = ()

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
