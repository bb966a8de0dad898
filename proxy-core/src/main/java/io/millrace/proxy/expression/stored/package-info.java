/** The facts of stored responses that expressions may name: docs/reference/expressions.md. No I/O, no clock. */
@NullMarked
package io.millrace.proxy.expression.stored;

import org.jspecify.annotations.NullMarked;
