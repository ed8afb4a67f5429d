# SPDX-License-Identifier: Apache-2.0

"""Certificates for servers of tests."""

from __future__ import annotations

import pathlib
import subprocess


def make(folder: pathlib.Path) -> pathlib.Path:
    """Return a new file in *folder*, with a certificate of ``localhost`` and then its key."""
    key, pair = folder / 'key.pem', folder / 'pair.pem'
    subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
        + ['-keyout', str(key), '-out', str(pair), '-subj', '/CN=localhost']
        + ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
        check=True,
        capture_output=True,
    )
    with pair.open('ab') as both:
        both.write(key.read_bytes())
    return pair
