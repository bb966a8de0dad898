/** Benchmarks of purges: {@link io.millrace.bench.purge.PurgeDriver} with millions of objects, and JMH benchmarks. */
@NullMarked
package io.millrace.bench.purge;

import org.jspecify.annotations.NullMarked;
