# SPDX-License-Identifier: Apache-2.0

"""The kinds of objects in a cloud, and the operations on them.

Each module defines one kind: its dataclasses, and a Protocol whose docstrings are the
contract of the clients. :mod:`climate.cloud.base` combines the protocols and
defines their common rules and errors.
"""
