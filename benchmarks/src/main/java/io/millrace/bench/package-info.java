/** JMH benchmarks, with one subpackage for each benchmarked package. */
@NullMarked
package io.millrace.bench;

import org.jspecify.annotations.NullMarked;
