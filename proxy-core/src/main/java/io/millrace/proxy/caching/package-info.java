/**
 * The rules of HTTP caching (RFC 9111, with RFC 9110 for validators, preconditions and ranges) as pure functions.
 * Input: heads and times. Output: a decision with its reason. This package does no I/O, reads no clock and has no
 * dependency on channels.
 */
@NullMarked
package io.millrace.proxy.caching;

import org.jspecify.annotations.NullMarked;
