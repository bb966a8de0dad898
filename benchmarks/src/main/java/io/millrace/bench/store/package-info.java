/**
 * Benchmarks of the store. These are JMH benchmarks of its parts, and {@link io.millrace.bench.store.StoreDriver} for
 * workloads that need minutes, gigabytes and other processes.
 */
@NullMarked
package io.millrace.bench.store;

import org.jspecify.annotations.NullMarked;
