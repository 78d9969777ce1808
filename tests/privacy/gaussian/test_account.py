"""The account a node keeps by itself."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import InvalidParameter, Unsupported
from sottovoce.privacy.gaussian.account import Account
from sottovoce.privacy.gaussian.gdp import delta


def test_a_single_draw() -> None:
    """With φ = 0 one message may be shown, under all the noise, and no second one."""
    account = Account(noise_std=2.0, noise_decay=0.0, budget=10.0)
    assert account.remaining() == 1
    assert account.spend().std == 2.0


@given(std=st.floats(0.01, 100), decay=st.floats(0.0, 0.9999), budget=st.floats(1e-3, 1e9), used=st.integers(0, 5))
def test_remaining_is_exactly_what_can_be_spent(std: float, decay: float, budget: float, used: int) -> None:
    """Exactly ``remaining()`` more messages are affordable, and spending them leaves none."""
    account = Account(noise_std=std, noise_decay=decay, budget=budget)
    account = account.spend(int(min(used, account.remaining())))
    count = int(account.remaining())
    spent = account.spend(count)
    assert spent.information <= budget * (1 + 2e-9)
    assert not account.affords(count + 1)
    with pytest.raises(Unsupported, match="privacy budget allows"):
        account.spend(count + 1)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize(("std", "decay"), [(1.0, 0.5), (0.3, 0.9), (7.0, 0.999), (1e-3, 0.1)])
def test_a_budget_is_used_up_and_not_overdrawn(std: float, decay: float, count: int) -> None:
    """A budget of exactly ``count`` messages allows all of them; one that lacks a few parts in 10⁹ allows one fewer."""
    exactly = sum(Fraction(1) / (Fraction(std) * Fraction(decay) ** t) ** 2 for t in range(count))
    assert Account(std, decay, budget=float(exactly)).remaining() == count
    assert Account(std, decay, budget=float(exactly) * (1 - 3e-9)).remaining() == count - 1


def test_a_budget_in_epsilon_is_rounded_to_the_safe_side() -> None:
    """The μ that (ε, δ) allows keeps the promise to the last bit, so a budget spent to the end keeps it too."""
    for epsilon in (0.1, 0.5, 1.0, 3.0, 8.0):
        for small in (1e-9, 1e-5, 0.1):
            budget = Account.with_budget(
                noise_std=1.0, noise_decay=0.5, epsilon=epsilon, delta=small, sensitivity=1.0
            ).budget
            assert delta(math.sqrt(budget), epsilon) <= small * (1 + 1e-13)
            assert delta(math.sqrt(budget) * (1 + 1e-12), epsilon) > small


@pytest.mark.parametrize(("std", "decay"), [(1.0, 0.98), (0.3, 0.5), (1e-150, 0.5)])
def test_one_by_one_equals_at_once(std: float, decay: float) -> None:
    """Spending message by message reaches the same account and the same budget as spending at once."""
    account = stepwise = Account(std, decay, budget=1e308)
    for _ in range(int(account.remaining())):
        stepwise = stepwise.spend()
    at_once = account.spend(int(account.remaining()))
    assert stepwise.information == pytest.approx(at_once.information, rel=1e-12)
    assert stepwise.remaining() == 0


@pytest.mark.parametrize(
    ("budget", "expected"),
    [({"mu": 2.0, "sensitivity": 0.5}, 16.0), ({"std": 0.25}, 16.0)],
)
def test_budgets_in_privacy_terms(budget: dict[str, float], expected: float) -> None:
    """A budget in μ or as a standard deviation becomes the same information."""
    assert Account.with_budget(noise_std=1.0, noise_decay=0.9, **budget).budget == pytest.approx(expected)


def test_epsilon_delta_budget_is_kept() -> None:
    """An (ε, δ) budget allows messages up to the promise and not beyond it."""
    account = Account.with_budget(noise_std=10.0, noise_decay=0.9, epsilon=1.0, delta=1e-5, sensitivity=1.0)
    spent = account.spend(int(account.remaining()))
    assert spent.epsilon(1e-5, sensitivity=1.0) <= 1.0 + 1e-6
    beyond = Account(10.0, 0.9).spend(int(account.remaining()) + 1)
    assert beyond.delta(1.0, sensitivity=1.0) > 1e-5
    assert spent.delta(1.0, sensitivity=1.0) == delta(spent.mu(1.0), 1.0)


def test_fresh_starts() -> None:
    """Re-arming restores the noise and keeps what was shown; a new secret starts from nothing."""
    account = Account(noise_std=1.0, noise_decay=0.5).spend(3)
    assert account.rearmed().information == pytest.approx(21.0)
    assert account.rearmed().next_noise_std == 1.0
    assert account.rearmed().spend(3).information == pytest.approx(42.0)
    assert (account.new_secret().information, account.new_secret().std) == (0.0, math.inf)
    assert account.carrying(4.0).mu(1.0) == pytest.approx(5.0)


def test_no_budget_means_no_limit() -> None:
    """Without a budget any number of messages may be sent, up to full disclosure."""
    account = Account(noise_std=1.0, noise_decay=0.5)
    assert account.remaining() == math.inf
    assert account.spend(10_000).std == 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: Account(noise_std=-1.0, noise_decay=0.5),
        lambda: Account(noise_std=1.0, noise_decay=1.0),
        lambda: Account(noise_std=1.0, noise_decay=0.5, budget=-1.0),
        lambda: Account(noise_std=math.inf, noise_decay=0.5),
        lambda: Account(noise_std=1.0, noise_decay=0.5, information=-1.0),
        lambda: Account(noise_std=1.0, noise_decay=0.5, messages=-1),
        lambda: Account(noise_std=1.0, noise_decay=0.5, messages=1.5),
        lambda: Account(noise_std=1.0, noise_decay=0.5).spend(-1),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5, mu=1.0),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5, mu=1.0, sensitivity=0.0),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5, mu=1.0, sensitivity=math.inf),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5, mu=-1.0, sensitivity=1.0),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5, mu=1.0, std=1.0, sensitivity=1.0),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5, mu=1.0, delta=0.1, sensitivity=1.0),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5, std=0.0),
        lambda: Account.with_budget(noise_std=1.0, noise_decay=0.5, epsilon=1.0, sensitivity=1.0),
        lambda: Account(noise_std=1.0, noise_decay=0.5).mu(-1.0),
    ],
)
def test_bad_accounts_are_refused(call: object) -> None:
    """Parameters outside their range, and budgets given twice or not at all, are refused."""
    with pytest.raises(InvalidParameter):
        call()  # type: ignore[operator]


def test_importing_the_account_is_light() -> None:
    """A peer that imports the account gets neither SciPy nor Numba nor the audit."""
    code = (
        "import sys; from sottovoce.privacy.gaussian.account import Account; import sottovoce.privacy.gaussian.gdp; "
        "heavy = {'scipy', 'numba', 'networkx', 'matplotlib', 'sottovoce.privacy.auditing'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_huge_noise_and_tiny_budgets_are_counted() -> None:
    """Where σ² leaves the range of floating point, the most messages are still exact: 4^T − 1 ≤ 3·10³¹⁰."""
    account = Account(1e160, 0.5, budget=1e-10)
    assert account.remaining() == 515
    assert account.affords(515)
    assert not account.affords(516)
    assert Account(1e200, 0.5, budget=1e-10).remaining() == 648
