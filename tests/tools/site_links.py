"""Links of a built site: `python -m tests.tools.site_links docs/_build/html` names those that lead nowhere."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The anchors of a page, and what it links to or shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {given[name] or "" for name in ("id", "name") if name in given}
        self.links += [given[name] or "" for name in ("href", "src") if name in given]


def broken(site: Path) -> list[str]:
    """Return each link between pages of a site whose page or anchor is not there, as `page: link`."""
    root = site.resolve()
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchored = target not in pages or unquote(parts.fragment) in pages[target].anchors
            if not target.exists() or not anchored:
                found.append(f"{path.relative_to(root)}: {link}")
    return found


if __name__ == "__main__":
    wrong = broken(Path(sys.argv[1]))
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))
