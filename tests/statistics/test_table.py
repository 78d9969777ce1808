"""A party's file is refused where it does not fit, with line and column and never with what is there."""

from __future__ import annotations

import contextlib
import os
import threading
from decimal import Context, localcontext

import pytest

from sottovoce.errors import InvalidFile
from sottovoce.statistics.columns import column_from

from . import made

HEADER = "age,salary,gender,job"
SECRET = "41871.23"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"200,{SECRET},f,cook", r"line 3, column 'age': the cell is outside 16 … 80"),
        (f"30,-{SECRET},f,cook", r"line 3, column 'salary': the cell is outside 0 … 200000"),
        (f"30,{SECRET}x,f,cook", r"line 3, column 'salary': the cell is not a number"),
        (
            f'30,"{SECRET.replace(".", ",")}",f,cook',
            r"the cell is not a number: it has a comma where a point is needed",
        ),
        ('30,"41,871.23",f,cook', r"line 3, column 'salary': the cell is not a number$"),
        ("30,41_871,f,cook", r"line 3, column 'salary': the cell is not a number$"),
        ("30,４１,f,cook", r"line 3, column 'salary': the cell is not a number$"),
        ("30,NA,f,cook", r"line 3, column 'salary': the cell is not a number$"),
        ("30,-Infinity,f,cook", r"line 3, column 'salary': the cell is not finite"),
        ("30,1e400,f,cook", r"line 3, column 'salary': the cell is outside 0 … 200000"),
        (
            "30,1e99999999999999999999999,f,cook",
            r"line 3, column 'salary': the cell has an exponent of too many digits",
        ),
        ("30,1e-99999999999999999999999,f,cook", r"line 3, column 'salary': the cell has an exponent of too many"),
        ("30,nan,f,cook", r"line 3, column 'salary': the cell is not finite"),
        ("30,inf,f,cook", r"line 3, column 'salary': the cell is not finite"),
        ("30,,f,cook", r"line 3, column 'salary': the cell is empty"),
        (f"30,{SECRET},d,cook", r"line 3, column 'gender': the cell is none of f, m"),
        (f"30,{SECRET},,cook", r"line 3, column 'gender': the cell is empty"),
        (f"30,{SECRET},f", r"line 3 has 3 cells, the header 4"),
    ],
)
def test_a_cell_that_does_not_fit_is_named_and_not_shown(tmp_path, line, message):
    """The first line is the header, so the second row is line 3."""
    (tmp_path / "a.csv").write_text(f"{HEADER}\n30,1000,f,cook\n{line}")
    with pytest.raises(InvalidFile, match=message) as error:
        made.study().read(tmp_path / "a.csv")
    assert SECRET not in str(error.value)


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    """One that is not there, and one that is not text."""
    (tmp_path / "latin.csv").write_bytes("naïve".encode("latin-1"))
    for name, why in (("none.csv", "cannot be read: No such file"), ("latin.csv", "it is not text in UTF-8")):
        with pytest.raises(InvalidFile, match=why):
            made.study(made.EVERYTHING).read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("age,salary,gender\n", "no column 'job'"),
        ("age,age,salary,gender,job\n", "more than one column 'age'"),
        (HEADER.replace(",", ";") + "\n30;1;f;cook\n", "no column 'salary', .*; its cells must be separated by commas"),
        (HEADER + '\n30,"1,f,cook\n', "cannot be read as CSV: line 2: unexpected end of data"),
        (HEADER + "\n" + "30,1,f,cook\n" * 501, "has more rows than the study allows: most_rows = 500"),
        (HEADER + "\n" + "9,1,f,cook\n" * 7, "and 2 more"),
        (HEADER + "\n" + "30,1,f,cook\n" + "\0" * 2_000_000, "row at line 3 has more than 1048576 characters"),
        (HEADER + "\n" + '30,"a\n",' * 200_000, "characters"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, text, message):
    """Missing and doubled columns, too many rows, many faults."""
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InvalidFile, match=message):
        made.study().read(tmp_path / "a.csv")


def test_numbers_are_clipped_only_where_declared_and_counted(tmp_path):
    """And rounded to the unit, ties to even; other columns are left alone."""
    text = made.HEAD.format(smallest=1).replace('unit = "0.01"', 'unit = "0.01"\nclip = true') + made.EVERYTHING
    (tmp_path / "a.csv").write_text("\ufeff" + HEADER + ",x\n30,-5,f,cook,?\n30,1e9,f,cook,?\n30,7.125,f,cook,?\n")
    table = made.Study.from_text(text).read(tmp_path / "a.csv")
    assert table.columns["salary"].tolist() == [0, 20_000_000, 712]
    assert table.clipped == {"salary": 2, "age": 0}


@pytest.mark.parametrize("precision", [3, 28])
@pytest.mark.parametrize("low", [0, 10, 10**33])
@pytest.mark.parametrize(("part", "units"), [("4" + "9" * 60, 7), ("5", 8), ("5" + "0" * 60 + "1", 8), ("0", 7)])
def test_numbers_of_many_digits_are_rounded_once(low, precision, part, units):
    """Less than a half by thirty digits was rounded to a half first, and then up; whatever precision is set."""
    with localcontext(Context(prec=precision)):
        column = column_from("x", {"low": str(low), "high": str(low + 100), "unit": 1})
        assert column.span == 100
        assert column.read(f"{low + 7}.{part}") == (units, False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
@pytest.mark.timeout(60)
def test_rows_without_end_are_refused_before_they_fill_memory(tmp_path):
    """Reading stops at the first row beyond those that the study allows."""
    pipe, written = tmp_path / "rows.csv", []
    os.mkfifo(pipe)

    def write():
        with contextlib.suppress(BrokenPipeError), pipe.open("w") as stream:
            stream.write(HEADER + "\n")
            while sum(written) < 10**6:
                stream.write("30,1,f,cook\n" * 1000)
                written.append(1000)

    writing = threading.Thread(target=write)
    writing.start()
    with pytest.raises(InvalidFile, match="has more rows than the study allows: most_rows = 500"):
        made.study(made.EVERYTHING).read(pipe)
    writing.join()
    assert sum(written) < 100_000
