/** JMH benchmarks, in one package for each package under test. */
@NullMarked
package io.millrace.bench;

import org.jspecify.annotations.NullMarked;
