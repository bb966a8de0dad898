/** The section {@code rules}: its keys, and its rules in compiled form. */
@NullMarked
package io.millrace.proxy.config.rules;

import org.jspecify.annotations.NullMarked;
