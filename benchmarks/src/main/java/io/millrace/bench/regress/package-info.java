/** Compares benchmark results with the budgets recorded for them. */
@org.jspecify.annotations.NullMarked
package io.millrace.bench.regress;
