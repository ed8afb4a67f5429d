# SPDX-License-Identifier: Apache-2.0

"""Types of WSGI applications and of the middleware around them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from typing import Any

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WSGIApp = Callable[[Environ, StartResponse], Iterable[bytes]]
Wrapper = Callable[[WSGIApp], WSGIApp]
