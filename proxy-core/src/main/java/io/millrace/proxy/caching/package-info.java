/**
 * The rules of HTTP caching (RFC 9111, with RFC 9110 for validators, preconditions and ranges) as pure functions: heads
 * and times go in, a decision with its reason comes out. Nothing here does I/O, reads a clock or knows a channel.
 */
@NullMarked
package io.millrace.proxy.caching;

import org.jspecify.annotations.NullMarked;
