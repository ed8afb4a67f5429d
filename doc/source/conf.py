# SPDX-License-Identifier: Apache-2.0

"""Configuration of the documentation."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from doc.ext import theme  # noqa: E402 - it is found from here on only

project = 'Climate'
copyright = 'Climate developers'

extensions = [
    'cliff.sphinxext',
    'doc.ext.capabilities',
    'doc.ext.copying',
    'doc.ext.layers',
    'doc.ext.rooms',
    'doc.ext.lifecycles',
    'doc.ext.metrics',
    'doc.ext.operations',
    'doc.ext.pictures',
    'doc.ext.requests',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
    'sphinx.ext.autodoc',
]

exclude_patterns: list[str] = []
highlight_language = 'console'
# A reference that leads nowhere is an error under -W.
nitpicky = True
# The contract of plugins names classes that it does not describe, in docstrings that are made
# for readers of the code.
nitpick_ignore_regex = [('py:.*', '.*')]
autodoc_typehints = 'none'
autodoc_class_signature = 'separated'

# The commands of openstackclient are described with its options.
autoprogram_cliff_application = 'openstack'

html_title = 'Climate'
html_theme = theme.NAME
html_theme_options = theme.options()
html_static_path = [theme.STATIC]
html_css_files = theme.STYLES
html_favicon = theme.FAVICON
html_copy_source = False
version = release = ''
