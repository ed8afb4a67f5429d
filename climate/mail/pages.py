# SPDX-License-Identifier: Apache-2.0

"""The part of mails in HTML.

Users choose the names of leases, so every value is escaped. The pages need no other server:
no pictures, style sheets or scripts.
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import jinja2
from jinja2 import sandbox

from climate import exceptions

_PACKAGE: Final = 'climate.mail'
_SUFFIX: Final = '.html'


class HtmlPages:
    """Renders the templates of notices.

    :param folder: with templates of the operator's own; None if there are none
    :param samples: values for each template, by name, with which each is tried
    :raises climate.exceptions.ConfigurationError: if a template cannot be rendered
    """

    def __init__(self, folder: pathlib.Path | None, samples: Mapping[str, Mapping[str, Any]]):
        own: Sequence[jinja2.BaseLoader] = ()
        if folder is not None:
            own = (jinja2.FileSystemLoader(folder),)
        loader = jinja2.ChoiceLoader([*own, jinja2.PackageLoader(_PACKAGE, 'templates')])
        self._environment = sandbox.ImmutableSandboxedEnvironment(
            loader=loader,
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        for name, values in samples.items():
            try:
                self.render(name, values)
            except (jinja2.TemplateError, OSError, UnicodeError) as error:
                raise exceptions.ConfigurationError(
                    f'[mail] template_dir: {name}{_SUFFIX}: {error}'
                ) from error

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """Return the page of a notice."""
        return self._environment.get_template(f'{name}{_SUFFIX}').render(values)
