/**
 * Origin groups: the selection of a host for a request, host health, and retries. The selection uses no I/O and
 * no clock: the caller supplies the time. The package {@code exchange} requests hosts and reports the results.
 */
@NullMarked
package io.millrace.proxy.origin;

import org.jspecify.annotations.NullMarked;
