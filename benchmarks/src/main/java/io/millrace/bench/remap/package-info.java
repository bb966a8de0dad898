/** Benchmarks of the work for a URL before the lookup: cache keys and rule matching. */
@NullMarked
package io.millrace.bench.remap;

import org.jspecify.annotations.NullMarked;
