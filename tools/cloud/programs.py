# SPDX-License-Identifier: Apache-2.0

"""Runs programs to their end, with their output in a log."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Mapping
from collections.abc import Sequence

from tools.cloud import services
from tools.cloud.errors import CloudError
from tools.cloud.state import Cloud

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(log: pathlib.Path, argv: Sequence[str | pathlib.Path], env: Mapping[str, str]) -> None:
    """Run a program, and append its output to *log*.

    :raises CloudError: if it fails, with the end of its output
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open('a+', encoding='utf-8', errors='replace') as file:
        began = file.seek(0, 2)
        ended = subprocess.run(
            [str(word) for word in argv],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if ended.returncode:
            file.seek(began)
            output = ''.join(f'\n  | {line.rstrip()}' for line in file.readlines()[-15:])
            raise CloudError(
                f'{pathlib.Path(argv[0]).name} failed with {ended.returncode}\n  {log}:{output}'
            )


def run_in(cloud: Cloud, log: str, *argv: str | pathlib.Path) -> None:
    """Run a program of the cloud, and append its output to the log named *log*.

    :raises CloudError: if it fails, with the end of its output
    """
    around = services.environment(cloud)
    command = cloud.bin / argv[0] if '/' not in str(argv[0]) else argv[0]
    run(cloud.logs / f'{log}.log', [command, *argv[1:]], around)


def run_inside(cloud: Cloud, module: str, *arguments: str) -> None:
    """Run a module of :mod:`tools.cloud.inside` with the libraries of the cloud.

    :raises CloudError: if it fails, with the end of its output
    """
    around = services.environment(cloud) | {'PYTHONPATH': str(ROOT)}
    argv = [cloud.bin / 'python', '-m', f'tools.cloud.inside.{module}', cloud.directory]
    run(cloud.logs / f'{module}.log', [*argv, *arguments], around)
