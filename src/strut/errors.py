"""The errors strut raises. Each message names the thing, its value, what was allowed and how to fix it."""


class StrutError(Exception):
    """Root of every error strut raises on purpose."""

    def __reduce__(self) -> "tuple[object, ...]":
        """For pickles and copies: the message and all attributes, whatever arguments its class takes."""
        return _restored_error, (type(self), self.args, dict(self.__dict__))


def _restored_error(
    kind: "type[StrutError]", arguments: "tuple[object, ...]", attributes: "dict[str, object]"
) -> StrutError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


class ModelError(StrutError):
    """A system is described wrongly: a name, a shape, a unit of meaning is missing or doubled."""


class UnknownNameError(ModelError):
    """A name that the system does not have."""


class ExpressionError(ModelError):
    """Text that is no arithmetic; `column` is where, counted from 0."""

    def __init__(self, reason: str, text: str, column: int) -> None:
        super().__init__(f"{reason}\n    {text}\n    {' ' * column}^")
        self.reason, self.text, self.column = reason, text, column


class NoGenerationError(ModelError):
    """A search of which no generation is finished yet: there is nothing to show."""


class NoStrideError(ModelError):
    """A walker has no even stride from which a design could begin."""


class ShapeError(ModelError):
    """A vector of the wrong length."""


class AlgebraicLoopError(ModelError):
    """Outputs and inputs that feed each other without a state in between."""


class GuardError(ModelError):
    """A guard that can never fire, because nothing it depends on changes."""


class ValueRangeError(StrutError, ValueError):
    """A number that is not finite, or outside of what is allowed."""


class ArgumentError(StrutError, TypeError):
    """An argument of the wrong kind: a text where a number is needed, a function where a `System` is."""


class CompileError(StrutError):
    """The C compiler refused the generated code, or could not be run."""


class DeviceError(StrutError):
    """A graphics card that is not there, fails, or cannot do what is asked."""


class ClusterError(StrutError):
    """A cluster that cannot be reached, refuses our token, or has other versions than we."""


class StorageError(StrutError, OSError):
    """A file could not be written or read."""


class NoGaitError(StrutError):
    """No gait was found: the message says how close the search came, and what ended the steps that failed.

    closest: the smallest change of the state over one step that was seen (inf if no step was ever completed).
    fell: how often each reason ended a step. nearest: the states by name from which that step began, a guess
    for another search; empty where there is none.
    """

    def __init__(
        self,
        message: str,
        closest: float = float("inf"),
        fell: "dict[str, int] | None" = None,
        nearest: "dict[str, float] | None" = None,
    ) -> None:
        super().__init__(message)
        self.closest, self.fell, self.nearest = closest, fell or {}, nearest or {}


class MissingExtraError(StrutError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'strut[{extra}]'")


def a(word: str) -> str:
    """A word behind its article: a state, an input."""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


def did_you_mean(name: object, known: "list[str] | tuple[str, ...]") -> str:
    """Return a sentence for a wrong name: the nearest that exists, and what there is."""
    import difflib

    # of names that are equally near, the one that is known first: difflib would take the last by the alphabet
    near = set(difflib.get_close_matches(str(name), known, n=3, cutoff=0.6))
    if not near and str(name):  # a part of a name, as 'garcia' of 'garcia-simplest'
        near = {each for each in known if str(name).lower() in each.lower()}
    likeness = {
        each: difflib.SequenceMatcher(None, each, str(name)).ratio() for each in known if each in near
    }
    hint = f"did you mean '{max(likeness, key=likeness.__getitem__)}'? " if near else ""
    choices = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return hint + (f"known: {choices}" if known else "there are none")
