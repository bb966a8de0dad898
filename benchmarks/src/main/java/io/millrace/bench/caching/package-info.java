/** Benchmarks of {@code io.millrace.proxy.caching}. */
@NullMarked
package io.millrace.bench.caching;

import org.jspecify.annotations.NullMarked;
