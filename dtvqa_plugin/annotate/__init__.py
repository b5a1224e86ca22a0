"""Make a dense-text question set from your images, as DT-VQA was made (paper section 3).

A project is a folder. Each stage reads what the stage before left there and can be repeated. One
module is one command: `init`, `run` (a vision model proposes pairs), `extract`, `check`,
`expand`, `review` (people decide), `export` (the released format, which both hosts evaluate) and
`status`. The rooms below serve them: `project` (the folder), `asking` (endpoints), `answers`
(pairs out of answers), `text` (recognised text, and rules about writing), `review` (decisions and
the page). See docs/annotate.md.

Importing this package imports none of them.
"""

from __future__ import annotations

__all__: list[str] = []
