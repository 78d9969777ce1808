"""Methods in words: read, printed, made, and written as Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.scenario.methods import MethodSpec, parse_method

STAR = sv.graphs.star(6)


@pytest.mark.parametrize(
    ("text", "printed", "method"),
    [
        ("standard", "standard", sv.StandardGossip()),
        ("standard:", "standard", sv.StandardGossip()),
        (
            "noise-insertion: noise_decay=0.9, noise_std=1.0",
            "noise-insertion:noise_std=1,noise_decay=0.9",
            sv.NoiseInsertion(1.0, 0.9),
        ),
        ("binary-oracle:step_size=1/sqrt(t)", "binary-oracle:step_size=1/sqrt(t)", sv.BinaryOracle("1/sqrt(t)")),
        ("block:block_size=5e0", "block:block_size=5", sv.BlockGossip(5)),
        (
            "noise-insertion:noise_std=2,noise_decay=free",
            "noise-insertion:noise_std=2,noise_decay=free",
            sv.NoiseInsertion.largest_free(STAR, noise_std=2.0),
        ),
    ],
)
def test_a_specification_is_one_method_however_it_is_written(text: str, printed: str, method: sv.Method) -> None:
    """Made, printed and read back, and as Python: always the same."""
    spec = MethodSpec.parse(text)
    assert str(spec) == printed
    assert MethodSpec.parse(printed) == spec
    assert spec.build(sv.graphs.complete(6) if "free" not in text else STAR) == method
    assert eval(spec.to_python(STAR), {"sv": sv, "graph": STAR}) == method


@given(std=st.integers(0, 10**20) | st.floats(0, 1e50), decay=st.floats(0, 1, exclude_max=True))
def test_every_digit_survives_printing_and_python(std: float, decay: float) -> None:
    """Numbers are written so that they are read back exactly."""
    method = sv.NoiseInsertion(std, decay)
    spec = MethodSpec("noise-insertion", (("noise_std", std), ("noise_decay", decay)))
    assert parse_method(str(spec)) == method
    assert eval(spec.to_python(STAR), {"sv": sv, "graph": STAR}) == method


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("telepathy", "method must be one of standard, noise-insertion"),
        ("noise-insertion:noise_std=1", "missing a required argument: 'noise_decay'; .* takes noise_std, noise_decay"),
        ("noise-insertion:noise_std=1,noise_decay=0.5,colour=2", "unexpected keyword argument 'colour'"),
        ("standard:5", "unexpected keyword argument '5'; standard takes nothing"),
        ("noise-insertion:noise_std=1,noise_decay=1", r"noise_decay must be finite and in \[0, 1\), got 1"),
        ("noise-insertion:noise_std=1,noise_decay=fre", "noise_decay must be a number"),
        ("mo-murray:noise_std=1,noise_decay=free", "noise_decay must be a number"),
        ("noise-insertion:noise_std=1,noise_decay=free", "which decay is free depends on the graph"),
    ],
)
def test_what_cannot_be_made_says_why(text: str, message: str) -> None:
    """One sentence with the parameter and what is allowed."""
    with pytest.raises(InvalidParameter, match=message):
        parse_method(text)


def test_a_method_that_does_not_fit_the_graph_is_refused() -> None:
    """When the graph is known, its own check is made."""
    assert parse_method("block:block_size=7") == sv.BlockGossip(7)
    with pytest.raises(InvalidParameter, match="block_size must be in"):
        parse_method("block:block_size=7", STAR)
