/** Benchmarks of what {@code io.millrace.proxy.http2} keeps to itself. */
@org.jspecify.annotations.NullMarked
package io.millrace.proxy.http2;
