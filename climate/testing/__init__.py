# SPDX-License-Identifier: Apache-2.0

"""Tests for resource types, built-in and third-party.

One declaration, a :class:`~climate.testing.kinds.LeasedType`, describes leases of a type;
:mod:`climate.testing.cases` makes tests of it. This package requires ``pip install
openstack-climate[testing]``.
"""
