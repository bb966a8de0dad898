/**
 * The expression language of conditions: parser, types and evaluation. It is independent of stored responses and
 * requests: the caller defines the fields in a {@code Schema}. No I/O, no clock. The grammar is in
 * docs/reference/expressions.md.
 */
@NullMarked
package io.millrace.proxy.expression;

import org.jspecify.annotations.NullMarked;
