/** Benchmarks of what {@code io.millrace.proxy.http1} keeps to itself. */
@org.jspecify.annotations.NullMarked
package io.millrace.proxy.http1;
