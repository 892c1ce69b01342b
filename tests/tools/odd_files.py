"""Files as they come out of a course's mailbox, of any kind, encoding and name, and the line of each when graded."""

import os
import socket
from pathlib import Path

UNSOLVED = {"The answer is missing: write a number.", "There is no answer yet: write the function."}
"""The verdicts about lab 1 as students get it, which most of the files are."""
LAB = ""
NO_FILE = "It cannot be read: it is no regular file."
LONG = "It is longer than 1,048,576 bytes."
ENCODING = "It is not in UTF-8 but in another encoding, such as Latin-1: save it as UTF-8."
UNDECODABLE, UNDECODABLE_TOO = os.fsdecode(b"undecodable\xff.py"), os.fsdecode(b"undecodable\xfe.py")
NAMES = (
    *("good.py", "ann/lab.py", "ann--lab.py", "zz_good.py", "new\nline.py", "sp ace.py", "\u202eevil.py", "-rf.py"),
    *("=cmd.py", "CON.py", "G\u00fcnther \u6797.py", UNDECODABLE, UNDECODABLE_TOO, "a" * 251 + ".py"),
    *("x" * 120 + "/" + "y" * 120 + ".py", "\u6797" * 40 + "_123456_assignsubmission_file_/" + "\u6797" * 40 + ".py"),
)
"""Of copies of the lab. Two pairs had one name for today's grader's files, and one has 254 bytes."""
SHOWN = {
    "new\nline.py": "new line.py",
    "\u202eevil.py": "\\u202eevil.py",
    UNDECODABLE: "undecodable\\udcff.py",
    UNDECODABLE_TOO: "undecodable\\udcfe.py",
}
BEFORE = {
    "declared.py": ("# -*- coding: latin-1 -*-\n# Gr\xfc\xdfe\n", LAB),
    "latin1.py": ("# Gr\xfc\xdfe\n", ENCODING),
    "deep.py": ("x = " + "(" * 300 + ")" * 300, "It is no Python: too many nested parentheses, line 1."),
    "deeper.py": ("x = " + "-" * 100_000 + "1", "It cannot be read as a notebook."),
    "long_line.py": ("x = '" + "a" * 3_000_000 + "'", LONG),
    "many.py": ("x = [" + "1," * 400_000 + "]", LAB),
    "surrogate.py": ("print('\\ud800')", LAB),
    "exit.py": ("import os\nos._exit(3)", LAB),
}
"""What stands before a copy of the lab, and is not run."""
CONTENTS = {
    "empty.py": (b"", "It is no lab: it imports no check of the course."),
    "binary.py": (bytes(range(256)) * 50, ENCODING),
    "notes.txt": (b"hello", "not a .py file"),
    "notebook.ipynb": (b"{}", "not a .py file"),
}
LINKS = {
    "link.py": ("good.py", LAB),
    "loop.py": ("loop.py", NO_FILE),
    "dangling.py": ("nowhere", NO_FILE),
    "up.py": ("..", NO_FILE),
    "zero.py": ("/dev/zero", NO_FILE),
    "tty.py": ("/dev/tty", NO_FILE),
    "memory_of_us.py": ("/proc/self/mem", "It cannot be read: Input/output error."),
}


def put_odd_files(folder, lab):
    """Write the files, and return the remark about each by its name as it is shown."""
    contents = {name: (lab, LAB) for name in NAMES}
    for name, (code, remark) in BEFORE.items():
        contents[name] = (code.encode("latin-1") + b"\n" + lab, remark)
    contents |= CONTENTS
    contents["nul.py"] = (lab + b"\0", "It is no Python: source code string cannot contain null bytes, line None.")
    contents["bom.py"] = (b"\xef\xbb\xbf" + lab, LAB)
    contents["crlf.py"] = (lab.replace(b"\n", b"\r\n"), LAB)
    contents["utf16.py"] = (lab.decode().encode("utf-16"), "It is not in UTF-8 but in UTF-16: save it as UTF-8.")
    contents["locked.py"] = (lab, LAB if os.geteuid() == 0 else "It cannot be read: Permission denied.")
    special = {"folder.py": Path.mkdir, "fifo.py": os.mkfifo, "socket.py": _bind, "sparse.py": _extend}
    remarks = {}
    for name in [*contents, *LINKS, *special]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in contents:
            path.write_bytes(contents[name][0])
            path.chmod(0 if name == "locked.py" else 0o644)
        elif name in LINKS:
            path.symlink_to(LINKS[name][0])
        else:
            special[name](path)
        remark = contents[name][1] if name in contents else LINKS[name][1] if name in LINKS else NO_FILE
        remarks[SHOWN.get(name, name)] = LONG if name == "sparse.py" else remark
    return remarks


def _bind(path):
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket has at most 108 bytes
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


def _extend(path):
    with path.open("wb") as file:
        file.truncate(5 * 2**30)
