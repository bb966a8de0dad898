/** The fields of requests and of their responses in conditions of rules. No I/O, no clock. */
@NullMarked
package io.millrace.proxy.expression.request;

import org.jspecify.annotations.NullMarked;
