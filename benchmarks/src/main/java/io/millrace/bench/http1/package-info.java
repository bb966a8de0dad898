/** Benchmarks of {@code io.millrace.proxy.http1}. */
@NullMarked
package io.millrace.bench.http1;

import org.jspecify.annotations.NullMarked;
