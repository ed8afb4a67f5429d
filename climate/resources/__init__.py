# SPDX-License-Identifier: Apache-2.0

"""Resources and resource types, which users can reserve."""
