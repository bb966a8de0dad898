/** Benchmarks of package-private parts of {@code io.millrace.proxy.http1}. */
@org.jspecify.annotations.NullMarked
package io.millrace.proxy.http1;
