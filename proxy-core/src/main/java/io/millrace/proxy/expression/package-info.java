/**
 * The expression language of conditions: parser, types and evaluation. It knows no stored response and no request; a {@code Schema} of
 * the caller names the fields. No I/O, no clock. The grammar is in docs/reference/expressions.md.
 */
@NullMarked
package io.millrace.proxy.expression;

import org.jspecify.annotations.NullMarked;
