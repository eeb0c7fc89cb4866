// SPDX-FileCopyrightText: 2026 basis_ik maintainers
// SPDX-License-Identifier: Apache-2.0

/* The plain FABRIK loop (Aristidou & Lasenby 2011, Algorithm 1) in C: the yardstick of
 * bench_fabrik.py, which compiles this file on the spot. A chain of n unconstrained bones, root
 * fixed. Nothing clever, nothing slow: one square root and one division per bone and pass.
 */
#include <math.h>
#include <string.h>

static double distance(const double *a, const double *b) {
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* Move `joint` along its line to `anchor` until they are `length` apart. */
static void pull(const double *anchor, double *joint, double length) {
    const double x = joint[0] - anchor[0], y = joint[1] - anchor[1], z = joint[2] - anchor[2];
    const double scale = length / sqrt(x * x + y * y + z * z);
    joint[0] = anchor[0] + x * scale;
    joint[1] = anchor[1] + y * scale;
    joint[2] = anchor[2] + z * scale;
}

static int solve(int n, double *p, const double *lengths, const double *target, double tolerance,
                 int max_iterations, double *residual) {
    double reach = 0.0;
    for (int i = 0; i < n; ++i) reach += lengths[i];
    const double root[3] = {p[0], p[1], p[2]};
    if (distance(root, target) >= reach) {
        for (int i = 0; i < n; ++i) {
            memcpy(p + 3 * (i + 1), target, 3 * sizeof(double));
            pull(p + 3 * i, p + 3 * (i + 1), lengths[i]);
        }
        *residual = distance(p + 3 * n, target);
        return 0;
    }
    int iteration = 0;
    while ((*residual = distance(p + 3 * n, target)) > tolerance && iteration < max_iterations) {
        memcpy(p + 3 * n, target, 3 * sizeof(double));
        for (int i = n - 1; i >= 0; --i) pull(p + 3 * (i + 1), p + 3 * i, lengths[i]);
        memcpy(p, root, 3 * sizeof(double));
        for (int i = 0; i < n; ++i) pull(p + 3 * i, p + 3 * (i + 1), lengths[i]);
        ++iteration;
    }
    return iteration;
}

/* Solve `count` targets, each from `start`; `work` holds one chain. Returns how many converged. */
int fabrik_batch(int n, int count, const double *start, const double *lengths,
                 const double *targets, double tolerance, int max_iterations, double *work,
                 int *iterations, double *residuals) {
    int converged = 0;
    for (int k = 0; k < count; ++k) {
        memcpy(work, start, 3 * (size_t)(n + 1) * sizeof(double));
        iterations[k] = solve(n, work, lengths, targets + 3 * k, tolerance, max_iterations,
                              residuals + k);
        converged += residuals[k] <= tolerance;
    }
    return converged;
}
