"""Agents as they are submitted to a tournament: good ones, and one for each way of going wrong."""

LEADER = """
import numpy as np
from dp_bandit_envs import Agent

class Leader(Agent):
    def begin(self, *, n_arms, horizon, rng):
        self.sums, self.counts, self.rng = np.zeros(n_arms), np.zeros(n_arms), rng

    def select_arm(self):
        means = self.sums / np.maximum(self.counts, 1) + (self.counts == 0)
        return int(np.argmax(means + 1e-9 * self.rng.random(len(means))))

    def update(self, arm, observation):
        self.sums += observation["gain"]
        self.counts += observation["observed"]
"""
EXP3 = """
from dp_bandit_envs import Exp3

def make_agent():
    return Exp3()
"""


def agent(*, begin="pass", select="return 0", update="pass", top=""):
    """Return the file of an agent, whose methods have these lines."""
    methods = {
        "begin(self, *, n_arms, horizon, rng)": begin,
        "select_arm(self)": select,
        "update(self, arm, observation)": update,
    }
    lines = [top, "class Mine:", "    rounds = 0"]
    for head, body in methods.items():
        lines += [f"    def {head}:", *(f"        {line}" for line in body.splitlines())]
    return "\n".join(lines) + "\n"


SEND = "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('127.0.0.1', 9))"

BAD = {
    "raises": (agent(update="1 / 0"), ["ZeroDivisionError", "update", "line 9", "division by zero"]),
    "nan": (agent(select="return float('nan')"), ["select_arm", "[0, 2]", "nan"]),
    "leaves": (agent(update="import sys; sys.exit()"), ["sys.exit", "line 9"]),
    "leaves_hard": (agent(update="import os; os._exit(3)"), ["exit code 3"]),
    "recursive": (agent(select="return self.select_arm()"), ["RecursionError"]),
    "wrong_key": (agent(update="observation['reward']"), ["KeyError", "'reward'", "'gain'", "'observed'"]),
    "no_agent": ("x = 1\n", ["no_agent.py", "begin", "select_arm", "update", "make_agent()"]),
    "raises_when_loaded": ("import nothing_of_this_name\n", ["ModuleNotFoundError", "line 1", "nothing_of_this_name"]),
    "sums": ("from dp_bandit_envs import Ucb\nmake_agent = Ucb\n", ["WrongObservationError", "running sums"]),
    "forks": (agent(select="import os\nwhile True: os.fork()"), ["ForbiddenError", "processes", "os.fork"]),
    "spawns": (agent(begin="import subprocess; subprocess.run(['ls'])"), ["ForbiddenError", "subprocess.Popen"]),
    "killed": (agent(update="import signal; signal.raise_signal(9)"), ["signal 9", "Killed"]),
    "sends": (agent(begin=SEND), ["ForbiddenError", "network", "socket.sendmsg"]),
    "calls": (agent(begin="import socket; socket.create_connection(('localhost', 9))"), ["ForbiddenError", "network"]),
}
"""Files by name, with the words that must be said of each."""

HUNGRY = {
    "busy": (agent(select="while True: pass"), ["0.7 s", "processor time"]),
    "asleep": (agent(select="import time; time.sleep(100)"), ["2.1 s", "clock"]),
    "growing": (agent(begin="self.all = []\nwhile True: self.all.append(bytearray(2**20))"), ["64 MB", "memory"]),
    "talks": (agent(begin="for _ in range(10**6): print('x' * 1000)"), ["printed", "1,000,000"]),
}
"""Files that use up what they may, with the words for 0.7 s and 64 MB."""

UNREAD = {
    "none": ("from dp_bandit_envs import Exp3\n", ["has none", "begin", "select_arm", "update", "make_agent()"]),
    "two": (LEADER + LEADER.replace("Leader", "Second"), ["has 2", "Leader", "Second", "_"]),
    "number": ("make_agent = 3\n", ["make_agent", "function"]),
    "no_python": ("class Mine:\n    def (", ["Python", "line 2"]),
    "null": ("x = 1\0", ["Python", "null"]),
}
"""Files in which no agent is found, with the words that must be said beside their names."""
