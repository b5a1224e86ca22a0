"""A dense-text question set of one's own, made the way DT-VQA was made (paper section 3).

A project is a folder. Each stage reads what the one before left there and can be run again:
``init``, ``run`` (a vision model proposes pairs), ``extract``, ``check``, ``expand``, ``review``
(people decide), ``export`` (the released format, which both hosts evaluate). See docs/annotate.md.
"""

from __future__ import annotations
