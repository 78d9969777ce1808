"""Run the Python of one page with nothing but the standard library: ``python session.py BLOCKS.json``.

It is started by the newcomer's own Python, which has no test tools. A block with prompts is a session whose answers
are compared, any other a program; blocks share their names.
"""

from __future__ import annotations

import doctest
import json
import sys
from pathlib import Path

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def main() -> int:
    blocks = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.path.insert(0, "")
    names: dict[str, object] = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    for block in blocks:
        if ">>> " in block["text"]:
            test = doctest.DocTestParser().get_doctest(
                block["text"], names, block["page"], block["page"], block["number"]
            )
            runner.run(test, clear_globs=False)
            names.update(test.globs)
        else:
            exec(compile(block["text"], block["page"], "exec"), names)
    return 1 if runner.summarize(verbose=False).failed else 0


if __name__ == "__main__":
    sys.exit(main())
