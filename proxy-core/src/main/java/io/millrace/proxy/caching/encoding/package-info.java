/** Decides which responses are encoded for clients, and builds the heads of encoded responses. No I/O. */
@NullMarked
package io.millrace.proxy.caching.encoding;

import org.jspecify.annotations.NullMarked;
