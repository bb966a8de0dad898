/**
 * The rules of {@code rules} for one request: which of them match, and the changes that they make. No I/O; the caller
 * gives the time. The keys and the compiled rules are in {@code config.rules}.
 */
@NullMarked
package io.millrace.proxy.rules;

import org.jspecify.annotations.NullMarked;
