/** Uses {@code caching}: which responses are encoded for clients, and the heads of encoded responses. No I/O. */
@NullMarked
package io.millrace.proxy.caching.encoding;

import org.jspecify.annotations.NullMarked;
