"""Terminals that cannot show every letter: signs are spelled out in letters that they have, and nothing fails.

``φ`` becomes ``phi``, ``±`` becomes ``+/-``. Tables ask for it before they are laid out (:func:`spelled`); all other
text passes a stream that does it (:func:`prepared`).
"""

from __future__ import annotations

import codecs
import io
import unicodedata
from typing import TextIO

__all__ = ["is_utf8", "letters_of", "prepared", "spelled"]

WORDS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "λ": "lambda", "μ": "mu",
    "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ψ": "psi", "Δ": "Delta", "Σ": "Sum ", "√": "sqrt", "∞": "inf",
    "±": "+/-", "−": "-", "–": "-", "—": "-", "‐": "-", "×": "x", "÷": "/", "·": "*", "•": "*", "≤": "<=", "≥": ">=",
    "≈": "~", "≠": "!=", "→": "->", "←": "<-", "…": "...", "‖": "||", "’": "'", "‘": "'", "“": '"', "”": '"',
    "½": "1/2", "²": "^2", "³": "^3", "⁻": "-", "°": " deg", "✓": "yes", "✗": "no", "█": "#", "━": "-", "─": "-",
    "│": "|", "●": "*",
}  # fmt: skip
"""Sign → ASCII letters."""


def _letters(text: str) -> str:
    """Each sign in words; letters lose their accents; what has no letters is a question mark."""
    return "".join(WORDS.get(sign) or _bare(sign) or "?" for sign in text if not unicodedata.combining(sign))


def _bare(sign: str) -> str:
    return unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode("ascii")


def spelled(text: str, encoding: str) -> str:
    """``text`` in letters that ``encoding`` has.

    Examples
    --------
    >>> spelled("σ ≤ 1, Konečný", "ascii"), spelled("σ ≤ 1", "utf-8"), spelled("é ± σ", "latin-1")
    ('sigma <= 1, Konecny', 'σ ≤ 1', 'é ± sigma')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(sign if _fits(sign, encoding) else _letters(sign) for sign in text)
    except LookupError:
        return _letters(text)
    return text


class SpellingStream(io.TextIOWrapper):
    """A text stream that spells out what its terminal cannot show.

    Click takes a stream that calls itself ASCII for a mistake and writes UTF-8 past it, so such a one calls itself
    Latin-1 and writes ASCII.
    """

    letters = "ascii"

    def write(self, text: str) -> int:
        return super().write(spelled(text, self.letters))


def prepared(stream: TextIO) -> TextIO:
    """The same stream, or one in front of it that spells signs out, instead of failing in the middle of a sentence."""
    if not isinstance(stream, io.TextIOWrapper) or is_utf8(stream):
        return stream
    encoding = "latin-1" if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding
    spelling = SpellingStream(stream.buffer, encoding=encoding, errors="replace", line_buffering=stream.line_buffering)
    spelling.letters = stream.encoding
    return spelling


def letters_of(stream: object) -> str:
    """The encoding whose letters a stream can show; one that does not say takes text as it is."""
    return str(getattr(stream, "letters", None) or getattr(stream, "encoding", None) or "utf-8")


def is_utf8(stream: object) -> bool:
    """Whether a stream can show every letter."""
    return letters_of(stream).lower().startswith("utf")


def _fits(sign: str, encoding: str) -> bool:
    try:
        sign.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
