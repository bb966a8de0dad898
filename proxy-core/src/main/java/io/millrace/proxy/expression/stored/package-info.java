/** The fields of stored responses in expressions, as in docs/reference/expressions.md. No I/O, no clock. */
@NullMarked
package io.millrace.proxy.expression.stored;

import org.jspecify.annotations.NullMarked;
