/** JMH benchmarks, with one package for each tested package. */
@NullMarked
package io.millrace.bench;

import org.jspecify.annotations.NullMarked;
