"""Links each paper that a page or a docstring names: authors and year, with or without brackets, become a link."""

import re
from collections.abc import Callable
from typing import Any

ARXIV, DOI, PMLR = "https://arxiv.org/abs/", "https://doi.org/", "https://proceedings.mlr.press/"
DBLP = "https://dblp.org/rec/"
"""For papers that have neither an arXiv number nor a DOI."""
PAPERS = {
    "Abernethy, Hazan and Rakhlin 2008": DBLP + "conf/colt/AbernethyHR08",
    "Agarwal and Singh 2017": ARXIV + "1701.07953",
    "Agrawal and Goyal 2012": ARXIV + "1111.1797",
    "Agrawal and Goyal 2013": ARXIV + "1209.3353",
    "Alon, Cesa-Bianchi, Gentile and Mansour 2013": ARXIV + "1307.4564",
    "Andersson and Pagh 2023": ARXIV + "2306.09666",
    "Arora, Dekel and Tewari 2012": ARXIV + "1206.6400",
    "Asi, Feldman, Koren and Talwar 2023": ARXIV + "2210.13537",
    "Asi, Raman and Saha 2025": ARXIV + "2503.09889",
    "Asi, Raman and Talwar 2025": ARXIV + "2505.21790",
    "Audibert and Bubeck 2010": "https://jmlr.org/papers/v11/audibert10a.html",
    "Auer et al. 2003": DOI + "10.1137/S0097539701398375",
    "Auer, Cesa-Bianchi and Fischer 2002": DOI + "10.1023/A:1013689704352",
    "Auer, Cesa-Bianchi, Freund and Schapire 2003": DOI + "10.1137/S0097539701398375",
    "Azize and Basu 2022": ARXIV + "2209.02570",
    "Azize and Basu 2023": ARXIV + "2309.00557",
    "Azize et al. 2025": ARXIV + "2505.05613",
    "Azize, Wu, Honda, Orabona, Ito and Basu 2025": ARXIV + "2505.05613",
    "Balle and Wang 2018": ARXIV + "1805.06530",
    "Barabási and Albert 1999": DOI + "10.1126/science.286.5439.509",
    "Besbes, Gur and Zeevi 2014": ARXIV + "1405.3316",
    "Bubeck, Cesa-Bianchi and Kakade 2012": ARXIV + "1202.3079",
    "Bun and Steinke 2016": ARXIV + "1605.02065",
    "Canonne, Kamath and Steinke 2020": ARXIV + "2004.00010",
    "Caron, Kveton, Lelarge and Bhagat 2012": ARXIV + "1210.4839",
    "Cesa-Bianchi and Lugosi 2006": DOI + "10.1017/CBO9780511546921",
    "Cesar and Rogers 2021": ARXIV + "2004.07223",
    "Chan, Shi and Song 2011": DOI + "10.1145/2043621.2043626",
    "Dekel et al. 2014": ARXIV + "1310.2997",
    "Dekel, Ding, Koren and Peres 2014": ARXIV + "1310.2997",
    "Dekel, Tewari and Arora 2012": ARXIV + "1206.6400",
    "Dwork and Roth 2014": DOI + "10.1561/0400000042",
    "Dwork and others 2014": DOI + "10.1145/2591796.2591883",
    "Fair 1978": DOI + "10.1086/260646",
    "Feldman and Zrnic 2021": ARXIV + "2008.11193",
    "Fichtenberger, Henzinger and Upadhyay 2023": ARXIV + "2202.11205",
    "Freund and Schapire 1997": DOI + "10.1006/jcss.1997.1504",
    "Gajane 2023": ARXIV + "2301.00561",
    "Garivier and Cappé 2011": ARXIV + "1102.2490",
    "Garivier and Moulines 2011": ARXIV + "0805.3415",
    "Geulen, Vöcking and Winkler 2010": DBLP + "conf/colt/GeulenVW10",
    "Hammer et al. 1996": DOI + "10.1056/NEJM199610103351501",
    "Haney, Shoemate, Tian, Vadhan, Vyrros, Xu and Zhang 2023": ARXIV + "2309.05901",
    "Hanna, Girgis, Fragouli and Diggavi 2022": ARXIV + "2207.03445",
    "Hardt and Talwar 2010": ARXIV + "0907.3754",
    "Hu and Hegde 2022": PMLR + "v180/hu22a.html",
    "Huang, Dai and Huang 2022": ARXIV + "2201.11921",
    "Jain and Thakurta 2014": PMLR + "v32/jain14.html",
    "Kairouz, McMahan, Song, Thakkar, Thakurta and Xu 2021": ARXIV + "2103.00039",
    "Kairouz, Oh and Viswanath 2015": ARXIV + "1311.0776",
    "Kalai and Vempala 2005": DOI + "10.1016/j.jcss.2004.10.016",
    "Kaufmann, Korda and Munos 2012": ARXIV + "1205.4217",
    "Lai and Robbins 1985": DOI + "10.1016/0196-8858%2885%2990002-8",
    "Lattimore and Szepesvari 2020": DOI + "10.1017/9781108571401",
    "Mannor and Shamir 2011": ARXIV + "1106.2436",
    "McSherry and Talwar 2007": DOI + "10.1109/FOCS.2007.66",
    "Mironov 2012": DOI + "10.1145/2382196.2382264",
    "Mironov 2017": ARXIV + "1702.07476",
    "Mishra and Thakurta 2015": "https://auai.org/uai2015/proceedings/papers/58.pdf",
    "Ou, Avella Medina and Cummings 2024": ARXIV + "2407.14879",
    "Ren et al. 2020": ARXIV + "2007.03121",
    "Ren, Zhou, Liu and Shroff 2020": ARXIV + "2007.03121",
    "Rogers, Roth, Ullman and Vadhan 2016": ARXIV + "1605.08294",
    "Russo and Van Roy 2016": ARXIV + "1403.5341",
    "Sajed and Sheffet 2019": ARXIV + "1905.09383",
    "Thakurta and Smith 2013": "https://proceedings.neurips.cc/paper_files/paper/2013/hash/c850371fda6892fbfd1c5a5b457e5777-Abstract.html",
    "Thompson 1933": DOI + "10.1093/biomet/25.3-4.285",
    "Tossou and Dimitrakakis 2016": ARXIV + "1511.08681",
    "Tossou and Dimitrakakis 2017": ARXIV + "1701.04222",
    "Tossou and Dimitrakakis 2018": ARXIV + "1806.09192",
    "Tossou, Dimitrakakis and Dubhashi 2017": ARXIV + "1701.04238",
    "Warner 1965": DOI + "10.1080/01621459.1965.10480775",
    "Zachary 1977": DOI + "10.1086/jar.33.4.3629752",
    "Zhu, Dong and Wang 2022": ARXIV + "2106.08567",
    "Zimmert and Seldin 2021": ARXIV + "1807.07623",
}
"""The address of each paper by its authors and year."""
KEPT = re.compile(r"(^```.*?^```|<svg.*?</svg>|`[^`\n]+`|!?\[[^\[\]]*\]\([^)\s]*\))", re.DOTALL | re.MULTILINE)
"""What stays as it is: code, drawings, links, and the words of pictures."""


def _written(name: str) -> str:
    """Return an expression for a paper, whose words may be on two lines."""
    authors, year = name.rsplit(" ", 1)
    words = r"\s+".join(map(re.escape, authors.split()))
    return rf"(?<!\[){words}\s+(?:\({year}\)|{year})"


NAMED = re.compile("|".join(f"({_written(name)})" for name in sorted(PAPERS, key=len, reverse=True)))
ADDRESSES = [PAPERS[name] for name in sorted(PAPERS, key=len, reverse=True)]


def _replaced(text: str, link: Callable[[str, str], str]) -> str:
    return NAMED.sub(lambda found: link(found[0], ADDRESSES[(found.lastindex or 1) - 1]), text)


def in_markdown(text: str) -> str:
    """Return a page in which every paper that is named is a link."""
    pieces = KEPT.split(text)
    return "".join(
        piece if place % 2 else _replaced(piece, lambda words, address: f"[{words}]({address})")
        for place, piece in enumerate(pieces)
    )


def in_docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Link the papers of a docstring, for Sphinx."""
    text = _replaced("\n".join(lines), lambda words, address: f"`{' '.join(words.split())} <{address}>`__")
    lines[:] = text.split("\n")
