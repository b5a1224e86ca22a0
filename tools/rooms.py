"""Write the list of rooms in ``docs/architecture.md`` from the packages themselves.

Run from the repository root: ``python tools/rooms.py``. A test fails where the list and the
packages differ. The packages are parsed, not imported.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN = "<!-- rooms: python tools/rooms.py -->"
END = "<!-- end of rooms -->"
PACKAGE = ROOT / "dtvqa_plugin"


def contract(module: ast.Module) -> list[str]:
    """The names in ``__all__``; empty where a package declares none."""
    for node in module.body:
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["__all__"]:
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def row(folder: Path) -> str:
    """One line of the table: the room, its docstring's first line, its public names."""
    module = ast.parse((folder / "__init__.py").read_text("utf-8"))
    summary = (ast.get_docstring(module) or "").split("\n\n")[0].replace("\n", " ")
    names = ", ".join(f"`{name}`" for name in contract(module)) or "none"
    room = folder.relative_to(PACKAGE).as_posix()
    return f"| `{room}/` | {summary.replace('``', '`')} | {names} |"


def table() -> str:
    """The whole table, rooms in alphabetical order."""
    folders = sorted(path.parent for path in PACKAGE.rglob("*/__init__.py"))
    rows = "\n".join(row(folder) for folder in folders)
    return f"| room | what it is for | public names |\n|---|---|---|\n{rows}"


def render(page: str) -> str:
    """The page with the table put between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text("utf-8")), encoding="utf-8")
    print(f"wrote {PAGE.name}")
