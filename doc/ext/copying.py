# SPDX-License-Identifier: Apache-2.0

"""Gives each block a button that copies its commands, without prompts and output."""

from __future__ import annotations

from typing import Any
from typing import Final
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE_DOCUMENT: Final = 'END'
_OPTIONS: Final = {
    'copybutton_prompt_text': '$ ',
    'copybutton_line_continuation_character': '\\',
    'copybutton_here_doc_delimiter': HERE_DOCUMENT,
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the buttons."""
    app.setup_extension('sphinx_copybutton')
    for name, value in _OPTIONS.items():
        setattr(app.config, name, value)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
