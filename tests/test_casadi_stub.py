"""The stub of CasADi in `typings/` names nothing that CasADi does not have."""

import ast
from pathlib import Path

import casadi
import pytest

STUB = ast.parse((Path(__file__).parents[1] / "typings" / "casadi" / "__init__.pyi").read_text())
OURS = {"Symbolic", "_Matrix", "Number", "Numbers", "Index"}
"""Names of the stub alone: what types are made of."""


def names(body):
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


def test_functions_and_classes_exist():
    assert not {name for name in names(STUB.body) if not hasattr(casadi, name)} - OURS


@pytest.mark.parametrize("kind", ["DM", "SX", "MX", "Function", "Sparsity", "CodeGenerator"])
def test_members_exist(kind):
    classes = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
    members = set(names(classes[kind].body))
    assert members
    assert not {name for name in members if not hasattr(getattr(casadi, kind), name)}
