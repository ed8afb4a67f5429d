# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
