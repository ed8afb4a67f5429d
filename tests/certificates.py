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
