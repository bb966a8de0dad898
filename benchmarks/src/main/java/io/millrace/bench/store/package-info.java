/**
 * Benchmarks of the store. JMH benchmarks measure its parts. {@link io.millrace.bench.store.StoreDriver} runs workloads
 * that take minutes, need gigabytes, or start other processes.
 */
@NullMarked
package io.millrace.bench.store;

import org.jspecify.annotations.NullMarked;
