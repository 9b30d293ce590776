"""The kinds of mutants: what each does to a node of a syntax tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

#: Comparisons, each with the operators that take its place.
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
#: Where an integer counts places or things, so that one more or less is the mistake that people make.
_COUNTING = (ast.Compare, ast.Subscript, ast.Slice, ast.BinOp)


def _comparison(node: ast.AST, _above: ast.AST) -> Iterator[ast.AST]:
    """``<`` for ``<=``, ``==`` for ``!=``, ``is`` for ``is not``, ``in`` for ``not in``, and back."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                yield changed


def _boolean(node: ast.AST, _above: ast.AST) -> Iterator[ast.AST]:
    """``and`` for ``or`` and back, or one operand less."""
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        for place in range(len(node.values)):
            rest = node.values[:place] + node.values[place + 1 :]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _arithmetic(node: ast.AST, _above: ast.AST) -> Iterator[ast.AST]:
    """``+`` for ``-``, ``*`` for ``/`` and the like, and the sign dropped."""
    if isinstance(node, ast.BinOp):
        for other in _ARITHMETIC.get(type(node.op), ()):
            yield ast.BinOp(node.left, other(), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand


def _constant(node: ast.AST, above: ast.AST) -> Iterator[ast.AST]:
    """Another number, the other truth value, or another text where texts are compared."""
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float) and not isinstance(above, _COUNTING):
        yield ast.Constant(node.value + 1)
    elif isinstance(node.value, float):
        yield ast.Constant(node.value * 2 or 1.0)
    elif isinstance(node.value, str) and isinstance(above, ast.Compare):
        yield ast.Constant(f"{node.value}x")


def _off_by_one(node: ast.AST, above: ast.AST) -> Iterator[ast.AST]:
    """One more or less where an integer is compared, indexes, slices or is counted with."""
    if isinstance(node, ast.Constant) and type(node.value) is int and isinstance(above, _COUNTING):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def _return_none(node: ast.AST, _above: ast.AST) -> Iterator[ast.AST]:
    """``return None`` in the place of a value."""
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))


def _dropped(node: ast.AST, _above: ast.AST) -> Iterator[ast.AST]:
    """No call, no ``+=``, no ``raise``, ``break`` or ``continue``."""
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if called or isinstance(node, ast.AugAssign | ast.Raise | ast.Break | ast.Continue):
        yield ast.Pass()


def _negated(node: ast.AST, above: ast.AST) -> Iterator[ast.AST]:
    """The condition of an ``if``, a ``while`` or a comprehension turned round."""
    conditions: tuple[ast.AST, ...] = ()
    if isinstance(above, ast.If | ast.While | ast.IfExp):
        conditions = (above.test,)
    elif isinstance(above, ast.comprehension):
        conditions = (*above.ifs,)
    if any(node is one for one in conditions) and isinstance(node, ast.expr):
        turned = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        yield node.operand if turned else ast.UnaryOp(ast.Not(), node)  # type: ignore[attr-defined]


def _swapped(node: ast.AST, _above: ast.AST) -> Iterator[ast.AST]:
    """Two arguments of a call in the other order."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        first, second, *rest = node.args
        if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            yield ast.Call(node.func, [second, first, *rest], node.keywords)


def _other_branch(node: ast.AST, _above: ast.AST) -> Iterator[ast.AST]:
    """One branch of a conditional expression, whatever the condition."""
    if isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


#: A kind gives every way in which it changes a node, which stands under another one; none where it does not fit.
KINDS: dict[str, Callable[[ast.AST, ast.AST], Iterator[ast.AST]]] = {
    "comparison": _comparison,
    "boolean": _boolean,
    "arithmetic": _arithmetic,
    "constant": _constant,
    "off by one": _off_by_one,
    "return None": _return_none,
    "dropped statement": _dropped,
    "negated condition": _negated,
    "swapped arguments": _swapped,
    "other branch": _other_branch,
}
