/** The comparison of benchmark results with recorded budgets of time and allocation. */
@org.jspecify.annotations.NullMarked
package io.millrace.bench.regress;
