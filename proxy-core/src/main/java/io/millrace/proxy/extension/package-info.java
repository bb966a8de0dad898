/**
 * Extensions in a running proxy: their objects, the hooks of each remap rule, calls with their failures, and the
 * circuit breakers. The interface for extensions is {@code io.millrace.proxy.spi}. The steps of the request path call
 * this package; it calls none of them.
 */
@NullMarked
package io.millrace.proxy.extension;

import org.jspecify.annotations.NullMarked;
