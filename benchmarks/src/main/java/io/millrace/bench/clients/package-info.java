/** Benchmarks of the limits of clients. */
@NullMarked
package io.millrace.bench.clients;

import org.jspecify.annotations.NullMarked;
