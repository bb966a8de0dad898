/**
 * The response and request fields in which this proxy reports about itself: {@code Cache-Status} (RFC 9211), and
 * {@code Via} (RFC 9110 s7.6.3) with its codes. This package uses no other package of the proxy. Event loops write the
 * fields without allocation.
 */
@NullMarked
package io.millrace.proxy.observe.field;

import org.jspecify.annotations.NullMarked;
