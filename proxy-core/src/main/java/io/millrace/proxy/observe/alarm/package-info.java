/** Alarms: lasting conditions that need an operator, such as an offline disk. */
@NullMarked
package io.millrace.proxy.observe.alarm;

import org.jspecify.annotations.NullMarked;
