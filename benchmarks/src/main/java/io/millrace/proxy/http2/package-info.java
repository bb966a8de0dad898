/** Benchmarks of package-private parts of {@code io.millrace.proxy.http2}. */
@org.jspecify.annotations.NullMarked
package io.millrace.proxy.http2;
