/** Compares benchmarks with what they took when their budgets were written. */
@org.jspecify.annotations.NullMarked
package io.millrace.bench.regress;
