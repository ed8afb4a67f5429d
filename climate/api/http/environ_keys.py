# SPDX-License-Identifier: Apache-2.0

"""The keys that Climate adds to the WSGI environment of a request."""

from __future__ import annotations

from typing import Final

CONTEXT: Final = 'climate.context'
"""Who calls: an ``oslo_context.context.RequestContext``."""
SESSION: Final = 'climate.session'
"""Set if the token is that of a session of the web page."""
CHECKING: Final = 'climate.checking'
"""A function that returns the context within which Keystone may check a token."""
TOKEN: Final = 'climate.token'  # noqa: S105  the name of a key
"""The token that is assumed, without Keystone, for a request that has none."""
EVALUATES: Final = 'climate.evaluates'
"""Whether a request asks for an outcome and changes nothing."""
