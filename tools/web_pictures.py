# SPDX-License-Identifier: Apache-2.0

"""Pictures of the web page for the documentation.

``python -m tools.web_pictures`` starts a service with fixed leases and writes them to
``doc/source/_static``. It needs Chromium, Node.js and ``make web-install``.
"""

from __future__ import annotations

import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

from tools import stage

HOSTS = 6
ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'doc' / 'source' / '_static'


def squeezed(picture: bytes) -> bytes:
    """Return a PNG with its pixels compressed as well as zlib can.

    A browser compresses them fast rather than well.
    """
    head, at, pixels, parts = picture[:8], 8, b'', []
    while at < len(picture):
        (length,) = struct.unpack_from('>I', picture, at)
        kind, content = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        at += length + 12
        if kind == b'IDAT':
            pixels += content
            continue
        if kind == b'IEND':
            parts.append(_chunk(b'IDAT', zlib.compress(zlib.decompress(pixels), 9)))
        parts.append(_chunk(kind, content))
    return head + b''.join(parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack('>I', len(content)) + kind + content + struct.pack('>I', checksum)


def main() -> int:
    """Write the pictures to the folder given, or to that of the documentation."""
    target = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else FOLDER
    with tempfile.TemporaryDirectory() as folder:
        service = stage.Service(pathlib.Path(folder), hosts=HOSTS)
        try:
            address = service.wait().removesuffix('/v1')
            words = ['node', 'tests/pictures.mjs', address, str(target)]
            done = subprocess.run(words, cwd=ROOT / 'web', check=False)
        except stage.DemoFailed as error:
            print(f'{error}\n{service.log_tail()}', file=sys.stderr)
            return 1
        finally:
            service.stop()
    for path in target.glob('calendar*.png'):
        path.write_bytes(squeezed(path.read_bytes()))
    return done.returncode


if __name__ == '__main__':
    sys.exit(main())
