/**
 * Origin groups: the selection of a host for a request, host health, and retries. Selection is pure: no I/O, and the
 * caller supplies the time. {@code exchange} requests hosts, and reports the results.
 */
@NullMarked
package io.millrace.proxy.origin;

import org.jspecify.annotations.NullMarked;
