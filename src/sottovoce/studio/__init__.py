"""The studio: a page where people watch private gossip happen. Start it with ``sottovoce studio``.

:mod:`.app` is the server, :mod:`.stream` what it says over the websocket, :mod:`.playing` the run
behind one page. All numbers come from :mod:`sottovoce.simulation`, :mod:`sottovoce.theory` and
:mod:`sottovoce.privacy`; the page draws them and computes none. Nothing here is imported by the rest
of the package, and it needs the extra ``studio``.
"""

from __future__ import annotations
