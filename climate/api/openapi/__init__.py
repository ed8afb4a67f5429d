# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI description of the API, made from its routes and schemas.

Start with ``document``. Imports ``errors``, ``http``, ``middleware``, ``path_ids``,
``routing``, ``schemas`` and ``views``.
"""
