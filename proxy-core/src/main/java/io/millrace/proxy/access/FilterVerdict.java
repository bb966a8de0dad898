package io.millrace.proxy.access;

import org.jspecify.annotations.Nullable;

/**
 * What a filter says of the requests that meet it. Immutable.
 *
 * @param denial what denies it, as logs and metrics name it; null when it may go on
 */
record FilterVerdict(@Nullable String denial) {
    static final FilterVerdict ALLOWED = new FilterVerdict(null);
}
