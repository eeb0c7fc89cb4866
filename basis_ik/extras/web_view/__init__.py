# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A page that shows robots and their state in a browser, and lets its user move them."""
