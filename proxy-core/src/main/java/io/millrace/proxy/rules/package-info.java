/**
 * Applies the configuration list {@code rules} to one request: selects the matching rules and makes their changes. No
 * I/O; the caller supplies the time. The keys and the compiled rules are in {@code config.rules}.
 */
@NullMarked
package io.millrace.proxy.rules;

import org.jspecify.annotations.NullMarked;
