"""Every public function states its arguments, its result and its errors (Google style).

The modules are parsed, not imported, so that the check needs neither torch nor a host.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import rooms

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ("dtvqa_plugin", *(f"dtvqa_plugin.{name}" for name in ("data", "metrics", "report")))
TORCHMETRICS = "dtvqa_plugin.torchmetrics"

Function = ast.FunctionDef | ast.AsyncFunctionDef
NO_RESULT = {"None", "NoReturn", "Self"}


def source(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def definition(module: str, name: str) -> ast.stmt | None:
    """Where a name comes from, through re-exports; None for a constant."""
    tree = ast.parse(source(module).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and node.name == name:
            return node
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return definition(node.module, alias.name)
    return None


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def functions(node: ast.stmt, name: str) -> Iterator[tuple[str, Function]]:
    """The function itself, or the public methods of a class that are no properties."""
    if isinstance(node, Function):
        yield name, node
    elif isinstance(node, ast.ClassDef):
        for item in node.body:
            properties = {"property", "functools.cached_property", "cached_property"}
            if isinstance(item, Function) and not item.name.startswith("_"):
                decorators = {ast.unparse(decorator) for decorator in item.decorator_list}
                if not decorators & {*properties, "override"}:
                    yield f"{name}.{item.name}", item


def public() -> Iterator[tuple[str, Function]]:
    for module in (*PUBLIC, TORCHMETRICS):
        for name in rooms.contract(ast.parse(source(module).read_text(encoding="utf-8"))):
            found = definition(module, name)
            if found is not None:
                yield from functions(found, f"{module}.{name}")


def parameters(function: Function) -> set[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    every += [extra for extra in (given.vararg, given.kwarg) if extra is not None]
    return {argument.arg for argument in every} - {"self", "cls"}


def section(text: str, title: str) -> str:
    """The indented lines under ``title:``; empty where there is no such section."""
    found = re.search(rf"^{title}:\n((?:[ \t]+.*\n?|\n)+)", text, re.MULTILINE)
    return found[1] if found else ""


def faults(function: Function) -> list[str]:
    text = ast.get_docstring(function) or ""
    arguments, found = section(text, "Args"), []
    for name in sorted(parameters(function)):
        if not re.search(rf"^ *\*{{0,2}}{name}(?: \(.*\))?:", arguments, re.MULTILINE):
            found.append(f"argument {name}")
    result = "None" if function.returns is None else ast.unparse(function.returns)
    sections = {title for title in ("Returns", "Yields") if section(text, title)}
    if result not in NO_RESULT and not sections:
        found.append("Returns")
    raised = {
        ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
        for node in own_nodes(function)
        if isinstance(node, ast.Raise) and node.exc is not None
    }
    for error in sorted(name for name in raised if name.endswith("Error")):
        if error not in section(text, "Raises"):
            found.append(f"raises {error}")
    return found


@pytest.mark.parametrize(
    ("name", "function"), [pytest.param(*pair, id=pair[0]) for pair in public()]
)
def test_a_public_function_states_arguments_result_and_errors(
    name: str, function: Function
) -> None:
    assert not faults(function)


def test_the_check_finds_what_is_missing() -> None:
    tree = ast.parse('''
def good(a, *rest):
    """Do.

    Args:
        a: The first.
        *rest: The others.

    Returns:
        A number.

    Raises:
        ValueError: Where a is 0.
    """
    raise ValueError(a)

def bad(a, b) -> int:
    """Do.

    Args:
        a: The first.
    """
    raise KeyError(a)
''')
    good, bad = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    assert faults(good) == []
    assert faults(bad) == ["argument b", "Returns", "raises KeyError"]
