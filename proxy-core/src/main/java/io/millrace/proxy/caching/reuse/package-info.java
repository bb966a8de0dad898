/**
 * Decisions whether a stored response may answer a request (RFC 9111 section 4), stale serving, and selection among
 * variants.
 */
@NullMarked
package io.millrace.proxy.caching.reuse;

import org.jspecify.annotations.NullMarked;
