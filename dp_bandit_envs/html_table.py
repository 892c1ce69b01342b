"""An HTML table, as notebooks show it."""

import html
from collections.abc import Sequence


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a table of plain text as HTML, with everything escaped.

    Args:
        head: The names of the columns.
        rows: The cells, row by row.
        caption: What stands above the table.
    """
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
