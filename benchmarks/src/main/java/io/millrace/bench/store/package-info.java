/**
 * The store under measurement: JMH benchmarks of its parts, and {@link io.millrace.bench.store.StoreDriver}, whose
 * workloads need minutes, gigabytes and other processes.
 */
@NullMarked
package io.millrace.bench.store;

import org.jspecify.annotations.NullMarked;
