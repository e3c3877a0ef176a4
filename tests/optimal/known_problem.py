"""`Known`: a problem together with the value of its optimum."""

from dataclasses import dataclass, field
from decimal import Decimal

from strut.optimal import Problem


@dataclass(frozen=True)
class Known:
    """A problem and what is known of it. cost: at the optimum, by a closed form, a quadrature, an indirect
    method or a book. close: how near to it a solution must come. guess, how: what `solve` is given. printed:
    the cost as a book prints it, where `cost` is derived here."""

    problem: Problem
    cost: float
    close: float
    guess: dict = field(default_factory=dict)
    how: dict = field(default_factory=dict)
    printed: str = ""

    @property
    def half_digit(self):
        """Half of the last digit that is printed, or infinity where nothing is."""
        return 0.5 * 10.0 ** Decimal(self.printed).as_tuple().exponent if self.printed else float("inf")

    def solve(self):
        """Its solution, without a compiler."""
        return self.problem.solve(self.guess, backend="virtual", **{"accuracy": 1e-7, **self.how})
