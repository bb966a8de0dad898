/** Benchmarks of the work for a request before the cache lookup: rule matching and cache keys. */
@NullMarked
package io.millrace.bench.remap;

import org.jspecify.annotations.NullMarked;
