/** Decisions whether a response may be stored (RFC 9111 section 3). */
@NullMarked
package io.millrace.proxy.caching.storing;

import org.jspecify.annotations.NullMarked;
