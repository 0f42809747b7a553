"""The sandbox of templates: Jinja2's immutable sandbox, with limits of time and memory.

Jinja2's sandbox keeps a template from Python's internals, but not from running forever or exhausting the memory. So
templates are rewritten before they are compiled: their output goes through `finalize`, their loops through a counting
filter, and values they build through a measuring filter. Filters, tests and calls are guarded where they are looked
up. Statements that join several templates are refused, because a node's text is a single template.
"""

from collections.abc import Callable, Iterable, Iterator
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, cast

from jinja2 import ChainableUndefined, Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Cycler, Joiner, Namespace
from jinja2.visitor import NodeTransformer

from mnemoir.workflows.text.effort import (
    Effort,
    check_format,
    check_insertion,
    check_numbers,
    check_power,
    check_product,
    check_replacement,
    check_slow,
)

_STATEMENTS = (
    nodes.Output,
    nodes.For,
    nodes.If,
    nodes.Macro,
    nodes.CallBlock,
    nodes.FilterBlock,
    nodes.With,
    nodes.Assign,
    nodes.AssignBlock,
)
# names of filters that no template can contain
_COUNTED, _WEIGHED, _CONCATENATED, _NAMED = "each turn", "what it builds", "texts in a row", "of a variable"
_GLOBALS = {"range": safe_range, "dict": dict, "namespace": Namespace, "cycler": Cycler, "joiner": Joiner}
_SLOW = frozenset({"pprint", "urlize", "wordwrap"})
_INSERTING_TEXTS = frozenset({"join", "urlize", "wordwrap"})
_INSERTING_WIDTHS = frozenset({"expandtabs", "indent", "tojson"})
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(name for name in dir(str) if not name.startswith("_"))
    - {"encode", "format", "format_map", "maketrans", "translate"},
    dict: frozenset({"copy", "get", "items", "keys", "values"}),
    list: frozenset({"copy", "count", "index"}),
    tuple: frozenset({"count", "index"}),
    LoopContext: frozenset({"changed", "cycle"}),
    Cycler: frozenset({"next", "reset"}),
}


class NamedText(str):
    """The output of a template for one variable, `name`; joining it with other text gives a plain str."""

    __slots__ = ("name",)
    name: str

    def __str__(self) -> str:  # called by code that Jinja2 generates; a plain str would lose the name
        return self


class _Named:
    """A value to be output, with the name of its variable."""

    __slots__ = ("name", "value")

    def __init__(self, value: object, name: str) -> None:
        self.value = value
        self.name = name


class BoundedContext(Context):
    """The variables of one template run, and its effort so far."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # as Jinja2 passes them
        super().__init__(*args, **kwargs)
        self.effort = Effort()


class _ClosedSandbox(ImmutableSandboxedEnvironment):
    """The sandbox with empty unknown variables and members; forbidden members raise an exception instead."""

    def unsafe_undefined(self, obj: object, attribute: str) -> Undefined:
        raise SecurityError(f"member {attribute!r} of {type(obj).__name__!r} is not for templates")


class Sandbox(_ClosedSandbox):
    """Compiles and runs templates. Forbidden operations and exceeded limits raise SecurityError."""

    context_class = BoundedContext
    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self) -> None:
        super().__init__(undefined=ChainableUndefined, finalize=_write)
        plain = _ClosedSandbox(undefined=ChainableUndefined)
        self.globals = dict(_GLOBALS)
        self.filters = {name: _guarded_filter(plain, name) for name in plain.filters}
        self.filters |= {_COUNTED: _count, _WEIGHED: _weigh, _CONCATENATED: _concatenate, _NAMED: _Named}
        self.tests = {name: _guarded_test(plain, name) for name in plain.tests}

    def bounded_template(self, template: nodes.Template) -> nodes.Template:
        """The template rewritten with its limits; the given tree must not be used afterwards."""
        bounded = cast(nodes.Template, _Bounding().visit(template))
        bounded.set_environment(self)
        return bounded

    def is_safe_callable(self, obj: object) -> bool:
        """True for methods of data with a bounded result, for macros, and for the offered global functions."""
        if isinstance(obj, BuiltinMethodType | MethodType):
            kind = str if isinstance(obj.__self__, str) else type(obj.__self__)
            return obj.__name__ in _METHODS.get(kind, ())
        if _formatted_text(obj) is not None or isinstance(obj, Macro | Joiner | Undefined):
            return True
        return any(obj is offered for offered in _GLOBALS.values())

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        if not __self.is_safe_callable(__obj):
            raise SecurityError(f"{getattr(__obj, '__name__', type(__obj).__name__)!r} is not for templates to call")
        effort = _effort(__context)
        effort.large_step()
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str) and __obj.__name__ == "join":
            return __self.filters["join"](__context, *args, d=owner)
        if isinstance(owner, str):
            _check(__obj.__name__, owner, args, kwargs)
        elif (text := _formatted_text(__obj)) is not None:
            check_format(text, (args, kwargs))
        return effort.make(super().call(__context, __obj, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        effort = _effort(context)
        effort.large_step()
        if operator == "*":
            check_product(left, right)
        elif operator == "**":
            check_power(left, right)
        elif operator == "%" and isinstance(left, str):
            check_format(left, right)
        return effort.make(super().call_binop(context, operator, left, right))


class _Bounding(NodeTransformer):
    """Adds steps, counting and measuring to a template's tree, and names of variables to its output."""

    def __init__(self) -> None:
        self._turns_of: dict[str, str] = {}  # loop variables, with the variable that each loop runs over

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        if isinstance(node, nodes.Stmt) and not isinstance(node, _STATEMENTS):
            raise _refusal(node, f"`{type(node).__name__.lower()}` is not for templates of one text")
        return super().visit(node, *args, **kwargs)

    def visit_TemplateData(self, node: nodes.TemplateData) -> nodes.Node:
        # unlike constants, TemplateData does not pass through `finalize`: a loop can write it a million times
        return nodes.Const(node.data, lineno=node.lineno)

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        names = [self._variable_of(written) for written in node.nodes]
        self.generic_visit(node)
        node.nodes = [_with_variable_name(written, name) for written, name in zip(node.nodes, names, strict=True)]
        return node

    def visit_For(self, node: nodes.For) -> nodes.Node:
        if node.recursive:
            raise _refusal(node, "recursive loops are not for templates")
        before, variable = self._turns_of, self._variable_of(node.iter)
        if variable and isinstance(node.target, nodes.Name):
            self._turns_of = {**before, node.target.name: variable}
        self.generic_visit(node)
        self._turns_of = before
        node.iter = _filter_node(node.iter, _COUNTED)
        return _stepping(node)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:
        return _stepping(self.generic_visit(node))

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:
        return _stepping(self.generic_visit(node))

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filter_node(nodes.List(node.nodes, lineno=node.lineno), _CONCATENATED)

    def visit_List(self, node: nodes.List) -> nodes.Node:
        return _filter_node(self.generic_visit(node), _WEIGHED)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        return _filter_node(self.generic_visit(node), _WEIGHED)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        self.generic_visit(node)
        return _filter_node(node, _WEIGHED) if node.ctx == "load" else node

    def _variable_of(self, node: nodes.Node) -> str:
        """The variable that an expression shows, whole or in part; "" for none or for several."""
        while isinstance(node, nodes.Getattr | nodes.Getitem | nodes.Filter) and node.node is not None:
            node = node.node
        return self._turns_of.get(node.name, node.name) if isinstance(node, nodes.Name) else ""


def _refusal(node: nodes.Node, reason: str) -> TemplateSyntaxError:
    return TemplateSyntaxError(reason, node.lineno)


def _filter_node(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _with_variable_name(node: nodes.Expr, variable: str) -> nodes.Expr:
    if not variable:
        return node
    return nodes.Filter(node, _NAMED, [nodes.Const(variable)], [], None, None, lineno=node.lineno)


def _stepping(node: Any) -> nodes.Node:  # For, Macro or CallBlock
    """The statement with a step at the beginning of its body, also if the body has no output."""
    node.body.insert(0, nodes.Output([nodes.Const("", lineno=node.lineno)], lineno=node.lineno))
    return cast(nodes.Node, node)


def _effort(context: Context) -> Effort:
    return cast(BoundedContext, context).effort


@pass_context
def _write(context: Context, value: object) -> str:
    if not isinstance(value, _Named):
        return _effort(context).write(str(value))
    text = NamedText(_effort(context).write(str(value.value)))
    text.name = value.name
    return text


@pass_context
def _count(context: Context, values: Iterable[object]) -> Iterator[object]:
    """Give the values and count them while the loop runs, so that a loop with slow iterations stops in time."""
    effort = _effort(context)
    for value in values:
        effort.step()
        yield value


@pass_context
def _weigh(context: Context, value: object) -> object:
    return _effort(context).make(value)


@pass_context
def _concatenate(context: Context, values: Iterable[object]) -> str:
    effort = _effort(context)
    effort.large_step()
    return effort.make("".join(map(str, values)))


def _formatted_text(obj: object) -> str | None:
    """The text of a `format` method wrapped by the sandbox; None for any other object."""
    method = getattr(obj, "__wrapped__", None) if isinstance(obj, FunctionType) else None
    owner = getattr(method, "__self__", None)
    return owner if isinstance(owner, str) and getattr(method, "__name__", "") == "format" else None


def _guarded_filter(plain: _ClosedSandbox, name: str) -> Callable[..., Any]:
    @pass_context
    def run_filter(context: Context, value: Any, *args: Any, **kwargs: Any) -> Any:
        effort = _effort(context)
        effort.large_step()
        if name == "join" and not isinstance(value, str):
            value = list(value)  # the check must not consume an iterator
        _check(name, value, args, kwargs)
        return effort.make(plain.call_filter(name, value, args, kwargs, context, context.eval_ctx))

    return run_filter


def _guarded_test(plain: _ClosedSandbox, name: str) -> Callable[..., Any]:
    @pass_context
    def run_test(context: Context, value: Any, *args: Any, **kwargs: Any) -> Any:
        _effort(context).large_step()
        return plain.call_test(name, value, args, kwargs, context, context.eval_ctx)

    return run_test


def _check(name: str, value: object, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    """Check the arguments of a filter, or of a text's method, before its call. Raises SecurityError."""
    values = (*args, *kwargs.values())
    check_numbers(values)
    if name in _SLOW:
        check_slow(value)
    if name == "replace" and len(args) > 1:
        check_replacement(str(value), str(args[0]), str(args[1]))
    elif name in _INSERTING_WIDTHS or name == "replace":
        check_insertion(value, values)
    elif name in _INSERTING_TEXTS:
        check_insertion(value, (each for each in values if not isinstance(each, int)))
    elif name == "format":
        check_format(str(value), values)
    elif name == "sum" and any(isinstance(start, list | tuple) for start in values):
        raise SecurityError("lists are not for summing")  # each addition copies all previous items
