/** Heads and framing of origins' responses, read and checked (RFC 9112 sections 4 and 6). */
@NullMarked
package io.millrace.proxy.fetch.response;

import org.jspecify.annotations.NullMarked;
