"""The lab on graph feedback: what privacy costs on a graph, and a cover by cliques."""


def noise_factor(reveals):
    """Return by how much Laplace noise has to grow: the most gains that one round can reveal."""
    return reveals.sum(axis=1).max()


def clique_cover(reveals):
    """Return groups of arms that all reveal each other: each arm joins the first group that it fits."""
    groups = []
    for arm in range(len(reveals)):
        for group in groups:
            if all(reveals[arm, other] and reveals[other, arm] for other in group):
                group.append(arm)
                break
        else:
            groups.append([arm])
    return groups
