"""Mutation testing: make one small mistake in code that must be right, and see whether a test fails.

A *mutant* is a copy of the package with one mistake in it. A test kills it by failing; a mutant that all its tests
accept has survived, and shows what the tests do not check. :mod:`.operators` makes mistakes of the usual kinds,
:mod:`.table` says in which code, which tests are asked, and adds mistakes with a name, which must all be killed.

::

    python -m tests.mutations                      all mutants
    python -m tests.mutations --minutes 10         the named ones, then a sample as large as the time allows
    python -m tests.mutations --only ledger --list what would be tried

The program is ours because the usual ones do not fit. mutmut calls every function through a wrapper, which Numba
cannot compile; cosmic-ray edits the working tree. Neither has mutants with a name.
"""
