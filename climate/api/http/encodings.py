# SPDX-License-Identifier: Apache-2.0

"""Compresses responses for clients that accept it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

_LEVEL: Final = 6
# The format of gzip.
_WINDOW: Final = 16 + zlib.MAX_WBITS
_GZIP: Final = re.compile(
    r'(?:^|,)[ \t]*(?:x-)?gzip[ \t]*(?:;[ \t]*q=([01](?:\.[0-9]{0,3})?)[ \t]*)?(?=,|$)',
    re.IGNORECASE,
)


def accepts_gzip(environ: Mapping[str, Any]) -> bool:
    """Whether the client of a request accepts gzip."""
    match = _GZIP.search(environ.get('HTTP_ACCEPT_ENCODING') or '')
    return match is not None and float(match[1] or 1) > 0


def compressed(body: bytes, level: int = _LEVEL) -> bytes:
    """Return a body in the format of gzip; the same bytes for the same body."""
    packer = zlib.compressobj(level, zlib.DEFLATED, _WINDOW)
    return packer.compress(body) + packer.flush()


def compressed_parts(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of a long body in the format of gzip, as they come."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW)
    try:
        for part in parts:
            packed = packer.compress(part)
            if packed:
                yield packed
        yield packer.flush()
    finally:
        close = getattr(parts, 'close', None)
        if close is not None:
            close()
