/** The fields of finished requests in expressions, for filters of access logs. No I/O, no clock. */
@NullMarked
package io.millrace.proxy.expression.logged;

import org.jspecify.annotations.NullMarked;
