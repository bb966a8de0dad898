/** Alarms: states of operation that need an operator, as long as they last. */
@NullMarked
package io.millrace.proxy.observe.alarm;

import org.jspecify.annotations.NullMarked;
