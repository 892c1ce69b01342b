"""A trial's file with every problem that `clean` knows, whose counts and lines are known."""

SECRET_GAIN = "73.19"
SECRET_TEXT = "gestorben-canary"
SECRET_PERSON = "canary-77"
COLUMNS = {"arm": "Treatment", "gain": "Outcome", "persons": "ID"}
DECIDED = {"scale": (0, 100), "missing": "drop", "missing_codes": [-99], "unreadable": "drop", "outside": "drop"}

TEXT = [
    "sep=;",  # 1
    "ID;Treatment;Outcome;Visit;Note",  # 2
    # Lines 3 to 26: twelve records of each of A and B, two of a person.
    *(f"p{i % 12};{'AB'[i % 2]};{50 + i};{i};" for i in range(24)),
    f"{SECRET_PERSON};a ;{SECRET_GAIN};1;",  # 27
    "p1; A.;55,5;2;",  # 28: a decimal comma
    "p2;B;61%;3;",  # 29
    "p3;B;NA;4;",  # 30
    "p4;B;;5;",  # 31
    "p5;A;n/a;6;",  # 32
    "p6;A;-99;7;",  # 33: a code for a missing value
    "p7;B;NaN;8;",  # 34
    "p8;B;inf;9;",  # 35
    f"p9;A;{SECRET_TEXT};10;",  # 36
    "p10;A;1.234,5;11;",  # 37: thousands and a decimal comma
    "p11;B;120;12;",  # 38
    ";B;50;13;",  # 39
    "p1;?;50;14;",  # 40
    "",  # 41
    ";;;;",  # 42
    'p2;A;50;15;"a note; with quotes"',  # 43
    'p3;B;50;16;"not closed',  # 44
    "p4;B;50",  # 45: too few cells
    "p5;B;50;17;;more",  # 46: too many
    "ID;Treatment;Outcome;Visit;Note",  # 47
    "p2;B;61%;3;",  # 48: line 29 again
    "p0;A;9,125;18;",  # 49: with the decimal commas of other lines, a little more than 9
    *(f"canary-88;placebo;5{i};{i};" for i in range(8)),  # 50 to 57
    *(f"canary-99;B;6{i % 10}.5;{i};" for i in range(20)),  # 58 to 77: a person with many
]
"""Lines 1 to 77; line 78 is in Latin-1 and line 79 in UTF-8."""


def messy() -> bytes:
    """Return the file, with a byte-order mark and Windows' line ends."""
    lines = [line.encode() for line in TEXT]
    lines += ["p6;A;50;99;Zürich".encode("latin-1"), "p7;A;50;99;Zürich".encode()]
    return b"\xef\xbb\xbf" + b"\r\n".join(lines) + b"\r\n"
