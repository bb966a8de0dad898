package io.millrace.proxy.access;

import org.jspecify.annotations.Nullable;

/**
 * The decision of an access filter about the requests that match it. Immutable.
 *
 * @param denial reason of the denial as written to logs and metrics; null when the request is allowed
 */
record FilterVerdict(@Nullable String denial) {
    static final FilterVerdict ALLOWED = new FilterVerdict(null);
}
