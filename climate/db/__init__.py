# SPDX-License-Identifier: Apache-2.0

"""SQL: the only package that uses SQLAlchemy."""
